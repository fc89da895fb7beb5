import contextlib
import io
import unittest

from folder import InAFolder  # sets sys.path

import pages

QUESTION = "**Check yourself.** How many?\n\n<details><summary>Answer</summary>\n\nTwo.\n\n</details>\n\n"
HEAD = "# 03 A lesson\n\n*Time:* an hour; nothing to skip.\n\n"
NEXT = "## Next\n\n[04](../04_x/README.md), or back to [03](README.md).\n"
LESSON = HEAD + "## The idea\n\nText.\n\n" + QUESTION + NEXT
PICTURE = "![A line that rises as the square of N does](x.svg)\n"


class Pages(InAFolder):
    def setUp(self):
        super().setUp()
        for path in ("03_x/exercise/README.md", "03_x/x.svg", "04_x/README.md", "x.svg"):
            self.write(path, "")

    def said(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return pages.main(list(arguments)), out.getvalue()

    def accepts(self, texts, *only):
        for path, text in texts.items():
            self.write(path, text)
        self.assertEqual(self.said(*only, *texts), (0, ""))

    def rejects(self, texts, line, *only):
        for path, text in texts.items():
            self.write(path, text)
        status, out = self.said(*only, *texts)
        self.assertEqual(status, 1)
        self.assertIn(line + "\n", out)

    def test_a_kernel_that_is_slower_at_all_d_needs_a_page_that_says_why(self):
        row = "07,cuda_{},f32,4,16,4096,{},0,backward,gpu,1.0,1,1,{},1\n".format
        self.write("03_x/kernels.c", "".join(f'        .name = "{name}",\n' for name in "abc"))
        self.write("03_x/results/nvidia_h200.csv", "# code\nchapter,kernel\n" + row("a", 64, "") + row("b", 64, 0.8) +
                   row("b", 128, 0.9) + row("c", 64, 0.5) + row("c", 128, 1.1) + row("gone", 64, 0.5) +
                   row("pytorch math", 64, 0.5))
        self.rejects({"03_x/README.md": LESSON}, "03_x/results/nvidia_h200.csv:1: cuda_b is slower than the kernel before it: "
                     "expected a page that says why it is kept, and marks it", "--only", "slower")
        self.write("03_x/pages/b.md", "Text.\n\n<!-- cuda_b is slower, and kept -->\nIt teaches.\n")
        self.accepts({"03_x/README.md": LESSON}, "--only", "slower")

    def test_a_good_lesson_is_accepted(self):
        self.accepts({"03_x/README.md": LESSON + PICTURE})
        self.accepts({"03_x/README.md": LESSON + "```text\n## no section\n![x](y)\n<details>\n```\n"})

    def test_a_page_that_is_wrong_twice_has_two_lines(self):
        self.write("03_x/README.md", LESSON + "![](x.svg)\n[a](none.md)\n")
        self.assertEqual(self.said("03_x/README.md")[1].count("\n"), 2)


class Links(Pages):
    def test_a_link_that_leads_nowhere_is_named(self):
        self.rejects({"README.md": "Text.\n\nSee [a](a.md).\n"}, "README.md:3: there is no a.md")
        self.rejects({"03_x/README.md": LESSON + "[a](<../05_x>)"}, "03_x/README.md:20: there is no ../05_x")
        self.rejects({"README.md": "![A line that rises as the square of N does](y.svg)\n"},
                     "README.md:1: there is no y.svg")
        self.rejects({"README.md": "[a]()\n"}, "README.md:1: there is no ")

    def test_links_that_lead_somewhere_are_accepted(self):
        self.accepts({"README.md": "# A b_c, d-e!\n[a](x.svg), [b](<03_x>), [c](#a-b_c-d-e), "
                                   "[d](README.md#a-b_c-d-e)\n"})

    def test_a_heading_that_is_not_there_is_named(self):
        for link in ("#b", "README.md#b", "README.md#A", "x.svg#a", "03_x#a"):
            self.rejects({"README.md": f"# A\n[a]({link})\n"},
                         f"README.md:2: {link}: that page has no such heading")

    def test_a_comment_in_code_is_no_heading(self):
        self.rejects({"README.md": "```sh\n# a\n```\n[a](#a)\n"},
                     "README.md:4: #a: that page has no such heading")

    def test_other_places_and_code_are_left_alone(self):
        self.accepts({"README.md": "[a](https://a.b/c#d) [e](http://f) [g](mailto:h@i)\n`[k](l)`\n"
                                   "```c\na[0](b);\n```\n"})

    def test_links_alone_can_be_checked(self):
        for text in ("![](x.svg)\n", "<details>\n", QUESTION[:20] + "\n"):
            self.accepts({"03_x/README.md": text}, "--only", "links")
        self.rejects({"03_x/README.md": "[a](a.md)"}, "03_x/README.md:1: there is no a.md", "--only", "links")


class Lessons(Pages):
    def test_a_section_without_a_question_is_named(self):
        bad = HEAD + "## The idea\n\nText.\n\n" + NEXT
        for page in ("03_x/README.md", "03_x/pages/more.md", "common/cuda/README.md",
                     "common/python/README.md"):
            self.rejects({page: bad}, f'{page}:5: no question after "The idea"')
        self.rejects({"03_x/more.md": LESSON + "## Last\n\nText.\n"},
                     '03_x/more.md:20: no question after "Last"')

    def test_pages_that_are_no_lessons_need_no_questions_and_no_head(self):
        for page in ("03_x/exercise/README.md", "common/cuda/pages/mistakes.md", "README.md"):
            self.accepts({page: "# 03\n\n## The idea\n\nText.\n"})

    def test_a_question_must_have_a_folded_answer(self):
        line = "03_x/README.md:7: a question without a folded answer"
        asked = HEAD + "## The idea\n\n**Check yourself.** How many?\n\n"
        self.rejects({"03_x/README.md": asked + "Two.\n\n" + NEXT}, line)
        self.rejects({"03_x/README.md": asked + QUESTION + NEXT}, line)
        self.rejects({"README.md": "**Check yourself.** How many?\n"},
                     "README.md:1: a question without a folded answer")

    def test_a_head_has_the_time(self):
        line = "03_x/README.md:1: expected how long it takes (*Time:*)"
        self.rejects({"03_x/README.md": "# 03\n\nNothing to skip.\n\n" + NEXT}, line)
        late = "# 03\n\n## Run it\n\n*Time:* an hour; nothing to skip.\n\n"
        self.rejects({"03_x/README.md": late + NEXT}, line)

    def test_a_fold_must_be_closed_in_its_section(self):
        line = "03_x/README.md:5: this section opens 1 folds, and closes 0"
        self.rejects({"03_x/README.md": LESSON.replace("</details>", "")}, line)
        moved = LESSON.replace("</details>\n\n## Next\n", "## Next\n</details>\n")
        self.rejects({"03_x/README.md": moved}, line)
        self.rejects({"README.md": "</details>\n"}, "README.md:1: this section opens 0 folds, and closes 1")

    def test_a_picture_has_a_text_of_what_is_on_it(self):
        line = ":{}: expected eight words of what is on this picture: {}"
        self.rejects({"03_x/README.md": LESSON + "![Accesses against N](x.svg)\n"},
                     "03_x/README.md" + line.format(20, "Accesses against N"))
        self.rejects({"README.md": "# Front\n\n![](x.svg)\n"}, "README.md" + line.format(3, ""))
        self.rejects({"README.md": PICTURE.strip() + " ![](x.svg)\n"}, "README.md" + line.format(1, ""))
        self.rejects({"README.md": "![one two three four five six seven](x.svg)\n"},
                     "README.md" + line.format(1, "one two three four five six seven"))
        self.accepts({"README.md": "# Front\n\n" + PICTURE})
        self.write("x.svg", "x" * 40001)
        self.rejects({"README.md": PICTURE}, "README.md:1: expected at most 40000 bytes, found 40001: x.svg")


class Chapters(Pages):
    def test_the_first_page_has_a_link_to_all_others(self):
        other = {"03_x/exercise/more.md": "Text.\n"}
        line = "03_x/exercise/more.md:1: no link to it in 03_x/README.md"
        self.rejects({"03_x/README.md": LESSON + "See [this](exercise/README.md).\n", **other}, line)
        self.rejects({"03_x/README.md": LESSON + "```\n[this](exercise/more.md)\n```\n", **other}, line)
        both = "See [this](x.svg) and [that](exercise/more.md).\n"
        self.accepts({"03_x/README.md": LESSON + both, **other})
        self.write("03_x/exercise/more.md", "## The idea\n")
        self.accepts({"03_x/README.md": LESSON + "See [that](exercise/more.md#the-idea).\n"})
        self.accepts(other)  # without the first page

    def test_next_leads_along_the_main_path(self):
        lesson = LESSON.replace("../04_x", "../02_safe_softmax").replace(", or back to [03](README.md)", "")
        self.write("02_safe_softmax/README.md", LESSON)
        one, two = "01_standard_softmax/README.md", "02_safe_softmax/README.md"
        self.accepts({one: lesson, two: LESSON})
        astray = lesson.replace("## Next\n\n", "## Next\n\n[03](../03_x/README.md), then ")
        self.write("03_x/README.md", LESSON)
        self.rejects({one: astray, two: LESSON},
                     f'{one}:19: expected "Next" to lead to {two} first, found ../03_x/README.md', "--only", "order")
        self.rejects({one: lesson.replace("## Next", "## Further"), two: LESSON},
                     f'{one}:1: expected "Next" to lead to {two} first, found no link', "--only", "order")


class Calls(Pages):
    def test_a_wrong_call_is_refused(self):
        for arguments in ([], ["--only"], ["--only", "none", "README.md"], ["--only", "links"], ["none.md"]):
            with contextlib.redirect_stderr(io.StringIO()) as err:
                self.assertEqual(pages.main(arguments), 2, arguments)
            self.assertRegex(err.getvalue(), r"\Apages: .*\n\Z")


if __name__ == "__main__":
    unittest.main()
