"""Pictures that explain an idea: a stale one is named, and drawn."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import diagrams  # noqa: E402


class Diagrams(unittest.TestCase):
    def said(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            return diagrams.main(list(arguments)), out.getvalue(), err.getvalue()

    def test_a_stale_picture_is_named_and_then_drawn(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(diagrams, "PICTURES", {"a/merge.svg": diagrams.merge}):
            back = os.getcwd()
            self.addCleanup(os.chdir, back)
            os.chdir(folder)
            self.assertEqual(self.said("check", "build"), (1, "stale: a/merge.svg (make plots draws it)\n", ""))
            self.assertEqual(self.said("draw", "build"), (0, "drew a/merge.svg\n", ""))
            self.assertEqual(self.said("check", "build"), (0, "", ""))
            self.assertIn("m = 4, l = 1.5530", Path("a/merge.svg").read_text(encoding="utf-8"))
            os.chdir(back)

    def test_softmax_shows_weights_that_add_up_to_1(self):
        self.assertEqual([f"{weight}" in "".join(diagrams.softmax()[2]) for weight in ("0.03", "0.09", "0.24", "0.64")], [True] * 4)

    def test_a_wrong_call_is_refused(self):
        self.assertEqual(self.said("paint", "build")[0], 2)


if __name__ == "__main__":
    unittest.main()
