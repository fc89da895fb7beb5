import unittest
from pathlib import Path
from unittest import mock

from folder import InAFolder  # sets sys.path

import prose
from page import MAIN_PATH, Page

ONE, TWO = MAIN_PATH[1:3]


class Prose(InAFolder):
    def pages(self, **texts):
        """Pages by their number on the main path, or `other`."""
        paths = {"other": "common/README.md", "glossary": prose.GLOSSARY, "style": prose.STYLE,
                 **{f"p{k}": path for k, path in enumerate(MAIN_PATH)}}
        made = []
        for name, text in texts.items():
            path = Path(paths[name])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            made.append(Page(path))
        return made

    def whole(self, **texts):
        return self.pages(**{**{f"p{k}": "Text.\n" for k in range(len(MAIN_PATH))}, **texts})

    def test_code_tables_blocks_and_answers_are_no_prose(self):
        page, = self.pages(p1="One [two](three.md) four.\n| five |\n```c\nsix\n```\n<!-- text: seven -->\neight\n<!-- end -->\n"
                              "<!-- a comment\nof two lines -->\n<details><summary>nine</summary>\nten\n</details>\n$$e$$\n![a b](c.svg) five\n")
        self.assertEqual(prose.words_of(page), 4)

    def test_a_page_may_be_too_long(self):
        self.assertEqual(list(prose.words(self.pages(p0="word " * 700, p1="word " * 1500))), [])
        self.assertEqual(list(prose.words(self.pages(p0="word " * 701))),
                         ["README.md:1: expected at most 700 words of prose, found 701"])
        self.assertEqual(list(prose.words(self.pages(p1="word " * 1501))),
                         [f"{ONE}:1: expected at most 1500 words of prose, found 1501"])
        self.assertEqual(list(prose.words(self.pages(other="word " * 9000))), [])

    def test_all_pages_together_may_be_too_long(self):
        with mock.patch.object(prose, "MAIN_WORDS", 5):
            self.assertEqual(list(prose.words(self.pages(p1="a b c", p2="d e"))), [])
            self.assertEqual(list(prose.words(self.pages(p1="a b c", p2="d e f"))),
                             ["README.md:1: expected at most 5 words of prose on the main path, found 6"])

        with mock.patch.object(prose, "ALL_WORDS", 5):
            self.assertEqual(list(prose.words(self.pages(p1="a b c", other="d e"))), [])
            self.assertEqual(list(prose.words(self.pages(p1="a b c", other="d e f"))),
                             ["README.md:1: expected at most 5 words of prose on all pages, found 6"])

    def test_a_reader_needs_a_rest(self):
        long = "word " * 300 + "\n"
        for rest in ("## A heading\n", "![A picture](x.svg)\n", "**Check yourself.** How many?\n"):
            self.assertEqual(list(prose.rests(self.pages(p1=long + rest + long))), [], rest)
        self.assertEqual(list(prose.rests(self.pages(p1="# One\n" + long + long))),
                         [f"{ONE}:1: more than 400 words without a heading, a picture or a question"])

    def test_phrases_are_not_used(self):
        for phrase in ("behind", "Beside", "stands", "nobody", "come by", "goes past", "tells", "knows", "for good", "3 a row"):
            self.assertEqual(list(prose.phrases(self.pages(p1=f"Text.\nIt {phrase} it.\n"))),
                             [f"{ONE}:2: expected other words than '{phrase}' (common/STYLE.md)"])
        self.assertEqual(list(prose.phrases(self.pages(other="It is behind it.\n"))),
                         ["common/README.md:1: expected other words than 'behind' (common/STYLE.md)"])
        self.assertEqual(list(prose.phrases(self.pages(p1="Besides, `behind` it.\n```\nbehind\n```\n", style="behind"))), [])

    def terms(self, **texts):
        glossary = f"# Glossary\n\n- **Tile**, **m, l**: a block of scores. [02](../../{TWO})\n- **Fast memory**: near.\n  [02](../../{TWO})\n"
        return list(prose.terms(self.whole(glossary=glossary, **texts)))

    def test_a_term_is_defined_before_it_is_used(self):
        good = "# Two\n\nA **tile** lies in **fast memory**. Tiles are small.\n"
        self.assertEqual(self.terms(p2=good), [])
        self.assertEqual(self.terms(p1="See `tile` and [the tile](x.md).\n", p2=good, p3="A tile.\n"), [])
        self.assertEqual(self.terms(p1="## One\nTwo tiles.\n", p2=good),
                         [f"{ONE}:2: 'tile' is used before {TWO} defines it"])
        self.assertEqual(self.terms(p2="## Two\nA tile.\n" + good), [f"{TWO}:2: 'tile' is used before it is defined in line 5"])
        self.assertEqual(self.terms(p1="# One\nOn to tiles.\n## Next\nTo tiles.\n", p2="# Two\nA tile.\n" + good), [])
        self.assertEqual(self.terms(p2="A **tile** lies in memory.\n"),
                         [f"{TWO}:1: expected **fast memory** in bold, where the glossary says that it is defined"])

    def test_an_everyday_word_must_only_be_defined(self):
        with mock.patch.object(prose, "EVERYDAY", {"tile"}):
            self.assertEqual(self.terms(p1="A tile.\n", p2="A **tile** lies in **fast memory**.\n"), [])


    def test_the_evenings_of_the_front_page_are_the_minutes_of_its_pages(self):
        minutes = {f"p{k}": "*Time:* forty minutes.\n" for k in range(1, len(MAIN_PATH))}  # 16 pages: 640
        minutes["p2"] = "*Needs:* C. *Time:* 25 minutes; no GPU.\n"
        for front, wrong in (("Four evenings: ten hours.\n", []), ("No time.\n", []),
                             ("\nIt takes two evenings, or\neleven hours.\n", ["2: expected four evenings", "3: expected ten hours"])):
            found = list(prose.times(self.whole(p0=front, **minutes)))
            self.assertEqual([line.removeprefix("README.md:").split(",")[0] for line in found], wrong)
        self.assertIn("of: ten minutes", next(prose.times(self.whole(**{**minutes, "p1": "*Time:* ages.\n"}))))
        self.assertEqual(list(prose.times(self.pages(p0="Two evenings.\n"))), [])


if __name__ == "__main__":
    unittest.main()
