import contextlib
import io
import unittest

from folder import InAFolder  # sets sys.path

import comments


class Comments(InAFolder):
    def said(self, text, file="05_x/steps/a.c"):
        self.write(file, text)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return comments.main([]), out.getvalue()

    def test_a_phrase_is_named_with_its_line(self):
        for comment, phrase in (("// it stands there", "stands"), ("/*\n * It is for\n * good.\n */", "for good"),
                                ("x();  // nobody waits", "nobody"), ("/* Of a row. */", "Of"), ("// so it is to be", "is to be")):
            self.assertEqual(self.said(f"int x;\n{comment}\n"),
                             (1, f"05_x/steps/a.c:2: expected other words than '{phrase}' (common/STYLE.md)\n"))

    def test_code_strings_and_names_are_no_comments(self):
        self.assertEqual(self.said('int seen = f("// nobody", \'"\');\n// `behind` is its name, after it\n'), (0, ""))

    def test_a_header_has_eight_lines(self):
        lines = " * A line.\n *\n"
        self.assertEqual(self.said(f"/*\n{lines * 8} */\n"), (0, ""))
        self.assertEqual(self.said(f"int x;\n/*\n{lines * 9} */\n"), (0, ""))
        self.assertEqual(self.said(f"/*\n{lines * 9} */\n"),
                         (1, "05_x/steps/a.c:1: expected at most 8 lines of text in the first comment, found 9\n"))

    def test_lessons_and_kernels_are_checked(self):
        for file in ("01_x/a.h", "07_x/fast/a.c", "06_x/kernels/3_hopper/a.cu", "07_x/kernels/parts/a.cuh", "06_x/kernels/kernels.h"):
            self.write("05_x/steps/a.c", "")
            self.assertEqual(self.said("// nobody\n", file), (1, f"{file}:1: expected other words than 'nobody' (common/STYLE.md)\n"))
            self.write(file, "")
        self.assertEqual(self.said("// nobody\n", "05_x/tests/a.c"), (0, ""))

    def test_a_wrong_call_is_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(comments.main(["05_x"]), 2)
        self.assertIn("found '05_x'", err.getvalue())


if __name__ == "__main__":
    unittest.main()
