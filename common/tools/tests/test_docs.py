import contextlib
import io
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import docs  # noqa: E402

TEXT = "# Page\n\n<!-- text: printf 'one\\ntwo\\n' -->\n```text\n{}\n```\n<!-- end -->\n\nBehind it.\n"
TIMED = "<!-- timed: echo 3 seconds -->\n{}<!-- end -->\n"
OLD_TIMES = TIMED.format("```text\n2 seconds\n```\n\nMeasured on 2020-01-01.\n")


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "README.md"

    def run_docs(self, mode, *texts):
        pages = [self.page, *(self.folder / f"{k}.md" for k in range(1, len(texts)))]
        for page, text in zip(pages, texts):
            page.write_text(text, encoding="utf-8")
        self.out, self.err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.err):
            return docs.main([mode, *map(str, pages)])

    def fills(self, before, after):
        self.assertEqual(self.run_docs("fill", before), 0, self.err.getvalue())
        self.assertEqual(self.page.read_text(encoding="utf-8"), after)
        self.assertEqual(self.run_docs("check", after), 0, self.out.getvalue())
        self.assertEqual(self.out.getvalue(), "")

    def test_a_stale_block_is_named_and_left(self):
        stale = TEXT.format("one\n2")
        self.assertEqual(self.run_docs("check", stale), 1)
        self.assertIn(f"stale: {self.page}", self.out.getvalue())
        self.assertIn("-2\n+two\n", self.out.getvalue())
        self.assertEqual(self.page.read_text(), stale)

    def test_each_stale_page_is_named(self):
        texts = [TEXT.format(block) for block in ("1", "one\ntwo", "2")]
        self.assertEqual(self.run_docs("check", *texts), 1)
        self.assertIn("README.md", self.out.getvalue())
        self.assertNotIn("1.md", self.out.getvalue())
        self.assertIn("2.md", self.out.getvalue())

    def test_a_warning_of_make_is_no_output(self):
        text = ("<!-- text: for of in 'warning: jobserver unavailable' 'Warning: Clock skew'; do echo \"make[2]: $of\" >&2; done;"
                " echo one; echo make: a word of the page -->\n{}<!-- end -->\n")
        self.fills(text.format(""), text.format("```text\none\nmake: a word of the page\n```\n"))

    def test_a_block_is_filled(self):
        self.fills(TEXT.format("old"), TEXT.format("one\ntwo"))
        text = "<!-- text: echo new -->\n{}<!-- end -->\n"
        self.fills(text.format(""), text.format("```text\nnew\n```\n"))

    def test_each_block_of_a_page_is_filled(self):
        block = "<!-- c: echo '{0}' -->\n```c\n{0}\n```\n<!-- end -->\n"
        both = "Head\n" + block.format("int a;") + "Between\n" + block.format("int b;") + "Foot\n"
        self.fills(both.replace("```c\nint b;", "```c\nint c;"), both)

    def test_tables_have_no_fence(self):
        for kind in ("table", "html"):
            text = f"<!-- {kind}: echo '| a |' -->\n" + "{}<!-- end -->\n"
            self.fills(text.format("old\n"), text.format("| a |\n"))

    def test_blanks_at_the_end_of_lines_and_empty_lines_at_the_end_go(self):
        text = "<!-- text: printf '\\n  a \\t\\n\\nb\\n \\n\\n' -->\n{}<!-- end -->\n"
        self.fills(text.format(""), text.format("```text\n\n  a\n\nb\n```\n"))

    def test_a_command_that_prints_nothing_has_an_empty_block(self):
        self.fills("<!-- table: true -->\nold\n<!-- end -->\n", "<!-- table: true -->\n<!-- end -->\n")
        self.fills("<!-- text: true -->\n<!-- end -->\n", "<!-- text: true -->\n```text\n```\n<!-- end -->\n")

    def test_standard_error_belongs_to_the_output_and_colour_does_not(self):
        text = "<!-- table: echo said >&2; echo \"$NO_COLOR\"; cat -->\n{}<!-- end -->\n"
        self.fills(text.format(""), text.format("said\n1\n"))

    def test_a_command_may_fail_with_1_and_not_with_more(self):
        text = "<!-- table: echo a; exit 1 -->\n{}<!-- end -->\n"
        self.fills(text.format(""), text.format("a\n"))
        for end in ("exit 2", "kill -9 $$"):
            failing = f"<!-- table: echo no such input; {end} -->\nold\n<!-- end -->\n"
            self.assertEqual(self.run_docs("fill", failing, TEXT.format("old")), 2)
            self.assertIn(f"{self.page}: this command ended with ", self.err.getvalue())
            self.assertIn(f"echo no such input; {end}\n    no such input\n", self.err.getvalue())
            self.assertEqual(self.page.read_text(), failing)
            self.assertIn("rewrote", self.out.getvalue())

    def test_a_block_without_an_end_is_refused(self):
        begin = "\n<!-- text: true -->\n```text\n```\n"
        for text in (begin, begin + begin + "<!-- end -->\n"):
            self.assertEqual(self.run_docs("fill", text), 2)
            self.assertIn(f"{self.page}:2: this block has no end", self.err.getvalue())
            self.assertEqual(self.page.read_text(), text)

    def test_times_stay_unless_they_are_measured_anew(self):
        self.fills(OLD_TIMES, OLD_TIMES)
        fresh = "<!-- text: echo 3 seconds -->\n```text\n3 seconds\n```\n<!-- end -->\n"
        self.fills(fresh + OLD_TIMES, fresh + OLD_TIMES)
        self.assertEqual(self.run_docs("measure", OLD_TIMES), 0)
        self.assertRegex(self.page.read_text(), r"\n3 seconds\n```\n\nMeasured on [0-9-]{10}\.\n<!-- end")
        self.assertNotIn("2020-01-01", self.page.read_text())

    def test_what_is_timed_runs_alone_and_other_commands_at_once(self):
        at_once = "<!-- text: : {0}; sleep 0.5 -->\n<!-- end -->\n"
        alone = "<!-- timed: mkdir {0}/lock && sleep 0.1 && rmdir {0}/lock; : {1} -->\n<!-- end -->\n"
        began = time.monotonic()
        self.run_docs("fill", at_once.format(1), at_once.format(2))
        if os.cpu_count() > 1:
            self.assertLess(time.monotonic() - began, 0.9)
        texts = [alone.format(self.folder, k) for k in (1, 2)]
        self.assertEqual(self.run_docs("measure", *texts), 0)
        self.assertNotIn("File exists", self.page.read_text() + (self.folder / "1.md").read_text())

    def test_a_command_runs_once(self):
        text = f"<!-- table: echo x >>{self.folder}/ran -->\n<!-- end -->\n"
        self.assertEqual(self.run_docs("check", text + text, text), 0)
        self.assertEqual((self.folder / "ran").read_text(), "x\n")

    def test_a_wrong_call_is_refused(self):
        for arguments in ([], ["fill"], ["docs-check", "README.md"], ["check", str(self.folder / "none.md")]):
            with contextlib.redirect_stderr(io.StringIO()) as err:
                self.assertEqual(docs.main(arguments), 2)
            self.assertRegex(err.getvalue(), r"\Adocs: .*\n\Z")


if __name__ == "__main__":
    unittest.main()
