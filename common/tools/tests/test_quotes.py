import contextlib
import io
import os
import subprocess
import unittest
from pathlib import Path

from folder import InAFolder  # sets sys.path

import quotes

MISTAKE = """Name: {}
Symptom: a < b_c | d, off by **one**
Seen in: (https://a.org/b_c*d) by x_y
Theme: Ends
Fix: start at 0
Caught by: flash::first, flash::second
File: 03_x/kernels/f.cu
-{}
+{}

"""
BARRIER = MISTAKE.replace("flash::first", "cuda::agrees_with_the_reference_at_64").replace("flash::second",
                                                                                       "cuda::leave_no_race")


class Quotes(InAFolder):
    def setUp(self):
        super().setUp()
        Path("03_x/tests").mkdir(parents=True)

    def said(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return quotes.main(list(arguments)), out.getvalue(), err.getvalue()

    def refused(self, words, *arguments):
        status, out, err = self.said(*arguments)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, rf"\Aquotes: .*{words}.*\n\Z")


class Diff(Quotes):
    def diff(self, old, new, *arguments):
        Path("old").write_text(old)
        Path("new").write_text(new)
        status, out, err = self.said("diff", *arguments)
        self.assertEqual((status, err), (0, ""))
        return out

    def test_lines_that_have_only_moved_are_not_marked_with_b(self):
        """Three lines moved into a loop, and one of them changed."""
        old = "void f(void)\n{\n    a();\n    b();\n    c();\n}\n"
        new = "void f(void)\n{\n    for (;;) {\n        a();\n        d();\n        c();\n    }\n}\n"
        self.assertEqual(self.diff(old, new, "-b", "old", "new"),
                         " void f(void)\n {\n+    for (;;) {\n         a();\n-    b();\n+        d();\n"
                         "         c();\n+    }\n }\n")
        self.assertIn("-    a();\n", self.diff(old, new, "old", "new"))

    def test_places_that_are_far_apart_have_a_line_between_them(self):
        many = "".join(f"    line({k});\n" for k in range(40))
        old = f"void f(void)\n{{\n    a();\n{many}    a();\n}}\n"
        new = old.replace("a()", "b()").replace("    line", "      line")
        out = self.diff(old, new, "-b", "old", "new")
        self.assertEqual(out.count("@@"), 2)
        self.assertEqual(out.count("-    a();\n+    b();\n"), 2)
        self.assertIn("@@ -34,12 +34,12 @@\n       line(30);\n", out)

    def test_only_functions_are_compared_without_gaps_and_lines_of_the_paper(self):
        old = "/* Old. */\n#include <a.h>\nvoid f(void)\n{\n    a();\n    c();  // 3 to 5\n}\n\nint b;\n"
        new = ("/* New. */\nvoid f(void)\n{\n    // BEGIN SOLUTION 1\n    b();\n    // END SOLUTION\n"
               "    // STUB: here\n    c();  // 6, 7\n}\nint c;\n")
        self.assertEqual(self.diff(old, new, "old", "new"),
                         " void f(void)\n {\n-    a();\n+    b();\n     c();\n }\n")

    def test_all_functions_are_compared_or_those_that_begin_so(self):
        one, two = "void f(void)\n{{\n    {};\n}}\n", "static int (*g(void))[2]\n{{\n    {};\n}}\n"
        old, new = one.format("a") + two.format("b"), one.format("c") + two.format("d")
        start = "static int (*g"
        self.assertEqual(self.diff(old, new, "old", "new", start, start),
                         " static int (*g(void))[2]\n {\n-    b;\n+    d;\n }\n")
        self.assertIn("+    d;\n }\n", self.diff(old + one.format("b"), new + one.format("d"), "old", "new"))

    def test_a_wrong_call_is_refused(self):
        Path("old").write_text("void f(void)\n{\n}\n")
        Path("new").write_text("int f(void)\n{\n}\n")
        self.refused("new: expected a line that begins with 'void'", "diff", "old", "new")
        self.refused("none", "diff", "old", "none")
        self.refused("expected two files", "diff", "old")
        self.refused("expected two files", "diff", "old", "old", "void")
        self.refused("expected diff and files", "difference", "old", "old")
        self.refused("expected diff and files")


class Tables(Quotes):
    def write(self, *mistakes):
        Path("03_x/tests/mistakes.txt").write_text("# Wrong versions.\n\n" + "".join(mistakes))

    def table(self, name, *mistakes):
        self.write(*mistakes)
        status, out, err = self.said(name, "03_x")
        self.assertEqual((status, err), (0, ""))
        headings, line, *rows = out.splitlines()
        self.assertEqual(line, "|" + "---|" * (headings.count("|") - 1))
        return rows

    def test_a_mistake_is_a_row_and_one_seen_in_public_is_a_row_of_its_theme(self):
        a = r"a \< b\_c \| d, off by \*\*one\*\*"
        first = MISTAKE.format("a", "  x |= y;", "    x += `y`;").replace("Seen in: (https", "Tried in: (https")
        first = first.replace("Theme: Ends\n", "")
        others = [MISTAKE.format(name, "x", "y") for name in "bcd"]
        others[1] = others[1].replace("Theme: Ends", "Theme: Begins")
        self.assertEqual(self.table("mistakes", first, *others),
                         [rf"| [`a`](../../03_x/tests/mistakes.txt#L3-L10)<br>`- x \|= y;`<br>``` +   x += `y`; ``` | {a} | "
                          "start at 0 | `flash::first` |".replace("```", "``")])
        status, out, err = self.said("seen", "03_x", "03_x")
        self.assertEqual((status, err), (0, ""))
        titles = [line for line in out.splitlines() if line.startswith("#") or line.startswith("| [")]
        rows = [rf"| [`{name}`](../../03_x/tests/mistakes.txt#L{at}-L{at + 8})<br>`- x`<br>`+ y` | {a} "
                r"| ([a.org](https://a.org/b_c*d)) by x\_y | start at 0 | `flash::first` |"
                for name, at in zip("bcd", (12, 22, 32))]
        self.assertEqual([quotes.link(f"https://{a}") for a in ("github.com/a/b/pull/3", "arxiv.org/abs/12.3")],
                         ["[#3](https://github.com/a/b/pull/3)", "[arXiv 12.3](https://arxiv.org/abs/12.3)"])
        self.assertEqual(titles, ["### Ends", rows[0], rows[2], rows[0], rows[2], "### Begins", rows[1], rows[1]])

    def test_a_mistake_of_many_lines_is_only_linked(self):
        rows = self.table("mistakes", MISTAKE.format("a", "x", "\n+".join("abcdef")).replace("Seen in", "Tried in"))
        self.assertIn("#L3-L16)<br>7 lines |", rows[0])

    def test_a_barrier_is_a_row_with_the_tests_that_reject_it(self):
        barrier = BARRIER.format("a", "    __syncthreads();  // before S is read", "")
        moved = BARRIER.format("b", "    __syncthreads();  // before V is read", "  __syncthreads();")
        self.assertEqual(self.table("barriers", barrier, moved, BARRIER.format("c", "a", "b")),
                         ["| before S is read | `f.cu` | yes | – | yes |"])

    def test_what_an_entry_lacks_is_named(self):
        for name in ("Symptom", "Fix", "Caught by", "Theme", "File"):
            self.write(MISTAKE.format("a", "x", "y").replace(name + ":", "Other:"))
            self.refused(f"mistakes.txt:3: a: expected a line '{name}: …'", "mistakes", "03_x")

    def test_a_wrong_call_is_refused(self):
        self.refused("expected a chapter with wrong versions", "mistakes", "03_x")
        self.refused("expected a chapter with wrong versions", "barriers", "04_x")
        self.refused("expected diff and files", "mistakes")


class Made(Quotes):
    AWK = str(Path(__file__).parents[1] / "mistakes.awk")

    def awk(self, *arguments):
        ended = subprocess.run(["awk", "-f", self.AWK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return ended.returncode, ended.stdout

    def setUp(self):
        super().setUp()
        self.right = "a & b\n  c\n\na & b\n  d\n"
        Path("f.c").write_text(self.right)
        Path("mistakes.txt").write_text("# Comment\nName: one\nFix: it\nFile: f.c\n-a & b\n+e\\n & b\n   d\n\n   c\n+  g\n\n"
                                        "Name: twice\nFile: f.c\n-a & b\n\nName: none\nFile: f.c\n-a & b \n")

    def test_lines_are_replaced_as_they_are_and_taken_back(self):
        self.assertEqual(self.awk("apply", ".", "mistakes.txt", "one"), (0, ""))
        self.assertEqual(Path("f.c").read_text(), "a & b\n  c\n  g\n\ne\\n & b\n  d\n")
        self.assertEqual(self.awk("undo", ".", "mistakes.txt", "one"), (0, ""))
        self.assertEqual(Path("f.c").read_text(), self.right)

    def test_lines_that_are_not_there_once_are_an_error_that_names_the_entry(self):
        for name, times in ("twice", 2), ("none", 0):
            status, said = self.awk("apply", ".", "mistakes.txt", name)
            self.assertEqual((status, said.splitlines()[0]),
                             (1, f"mistakes.txt: {name}: expected these lines once in f.c, found them {times} times:"))
        self.assertEqual(Path("f.c").read_text(), self.right)

    def test_an_entry_that_is_none_is_refused(self):
        self.assertEqual(self.awk("apply", ".", "mistakes.txt", "two"),
                         (1, "mistakes.txt: expected the name of an entry, found 'two'\n"))
        self.assertEqual(self.awk("split", ".", "mistakes.txt"), (1, "mistakes.txt: one: expected a line 'Caught by: …'\n"))
        for wrong, said in ("Name: a b", "1: expected"), ("Name: a\nName: a", "2: a: the name"), ("Name: a\nFixed: b", "2: a: exp"):
            Path("wrong.txt").write_text(wrong + "\n")
            self.assertRegex(self.awk("check", ".", "wrong.txt")[1], f"\\Awrong.txt:{said}")

    def test_an_entry_that_has_not_changed_is_not_written_again(self):
        text = MISTAKE.format("a", "x", "y")
        Path("all.txt").write_text(text + MISTAKE.format("b", "x", "y"))
        self.assertEqual(self.awk("split", ".", "all.txt"), (0, ""))
        self.assertEqual(Path("a").read_text(), text.rstrip("\n") + "\n")
        os.utime("a", (1, 1)), os.utime("b", (1, 1))
        Path("all.txt").write_text(text + MISTAKE.format("b", "x", "z"))
        self.assertEqual(self.awk("split", ".", "all.txt"), (0, ""))
        self.assertEqual([Path(name).stat().st_mtime == 1 for name in "ab"], [True, False])

    def test_all_of_the_course_can_be_made(self):
        course = Path(__file__).parents[3]
        files = [*course.glob("0*/tests/mistakes.txt"), *course.glob("0*/*/tests/mistakes.txt"),
                 *course.glob("common/*/mistakes.txt"), course / "common/classroom/tests/mistakes.txt", *course.glob("0*/exercise/planted.txt")]
        self.assertGreater(len(files), 9)
        for file in files:
            self.assertEqual(self.awk("check", str(course), str(file)), (0, ""))


if __name__ == "__main__":
    unittest.main()
