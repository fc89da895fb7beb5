"""What pages quote: the difference of two lessons, and the wrong versions as tables."""
import contextlib
import io
import unittest
from pathlib import Path

from folder import InAFolder  # the tools are found then too

import quotes

PATCH = """Symptom: a < b_c | d, off by **one**
Seen in: (https://a.org/b_c*d) by x_y
Theme: Ends
Fix: start at 0
Caught by: flash::first, flash::second
Caught by: witness::third

--- a/03_x/kernels/f.cu
+++ b/03_x/kernels/f.cu
@@ -1 +1 @@
-{}
+{}
"""
BARRIER = PATCH.replace("flash::first", "cuda::agrees_with_the_reference_at_64").replace("flash::second",
                                                                                   "cuda::leave_no_race")


class Quotes(InAFolder):
    def setUp(self):
        super().setUp()
        Path("03_x/tests/mutants").mkdir(parents=True)

    def said(self, *arguments):
        """The status, standard output, standard error."""
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
        """A loop has come around three lines, and one of them is another now."""
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
    def table(self, name, patches):
        for stem, text in patches.items():
            Path(f"03_x/tests/mutants/{stem}.patch").write_text(text)
        status, out, err = self.said(name, "03_x")
        self.assertEqual((status, err), (0, ""))
        headings, line, *rows = out.splitlines()
        self.assertEqual(line, "|" + "---|" * (headings.count("|") - 1))
        self.assertEqual({row.count(" |") for row in rows}, {headings.count(" |")})
        return rows

    def test_a_mistake_is_a_row_and_one_seen_in_public_is_a_row_of_its_theme(self):
        a = r"a \< b\_c \| d, off by \*\*one\*\*"
        self.assertEqual(self.table("mistakes", {"b": PATCH, "a": PATCH.replace("Seen in", "Elsewhere")}),
                         [rf"| [`a`](../../03_x/tests/mutants/a.patch) | {a} | start at 0 | `flash::first` |"])
        for name, theme in (("a", "Begins"), ("c", "Ends")):
            Path(f"03_x/tests/mutants/{name}.patch").write_text(PATCH.replace("Theme: Ends", f"Theme: {theme}"))
        status, out, err = self.said("seen", "03_x", "03_x")
        self.assertEqual((status, err), (0, ""))
        titles = [line for line in out.splitlines() if line.startswith("#") or line.startswith("| [")]
        rows = [rf"| [`{name}`](../../03_x/tests/mutants/{name}.patch) | {a} | ([a.org](https://a.org/b_c*d)) by x\_y "
                "| start at 0 | `flash::first` |" for name in "abc"]
        self.assertEqual([quotes.link(f"https://{a}") for a in ("github.com/a/b/pull/3", "arxiv.org/abs/12.3")],
                         ["[#3](https://github.com/a/b/pull/3)", "[arXiv 12.3](https://arxiv.org/abs/12.3)"])
        self.assertEqual(titles, ["### Begins", rows[0], rows[0], "### Ends", *rows[1:], *rows[1:]])

    def test_a_barrier_is_a_row_with_the_tests_that_reject_it(self):
        barrier = BARRIER.format("    __syncthreads();  // before S is read", "")
        moved = BARRIER.format("    __syncthreads();  // before V is read", "  __syncthreads();")
        self.assertEqual(self.table("barriers", {"a": barrier, "b": moved, "c": BARRIER.format("a", "b")}),
                         ["| before S is read | `f.cu` | yes | – | yes |"])

    def test_what_a_patch_lacks_is_named(self):
        for name in ("Symptom", "Fix", "Caught by", "Theme"):
            Path("03_x/tests/mutants/a.patch").write_text(PATCH.replace(name + ":", "Other:"))
            self.refused(f"a.patch: expected a line '{name}: …'", "mistakes", "03_x")

    def test_a_wrong_call_is_refused(self):
        self.refused("expected a chapter with wrong versions", "mistakes", "03_x")
        self.refused("expected a chapter with wrong versions", "barriers", "04_x")
        self.refused("expected diff and files", "mistakes")


if __name__ == "__main__":
    unittest.main()
