import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import layers  # noqa: E402


class Layers(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())

    def said(self, includes):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for file, included in includes.items():
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(f'#include <stdio.h>\n#include "{included}"\n')
            with contextlib.redirect_stdout(io.StringIO()) as out:
                return layers.main([]), out.getvalue()

    def test_includes_that_go_down_are_right(self):
        self.assertEqual(self.said({
            "05_x/program/a.c": "common/check/tolerance.h", "common/check/tolerance.h": "common/cpu/memory.h",
            "common/files/npy.h": "common/problem/shape.h", "06_x/kernels/a.cu": "05_x/steps/a.h",
            "05_x/program/peers/a.c": "common/peers/a.h",
            "01_x/tests/a.c": "05_x/steps/a.h"}), (0, ""))

    def test_an_include_that_goes_up_is_named_with_both_files(self):
        for file, included in (("common/cpu/memory.h", "common/check/tolerance.h"),
                               ("common/program/a.c", "05_x/program/a.h"), ("01_x/a.c", "02_x/a.h"),
                               ("05_x/kernels/a.cuh", "06_x/kernels/a.cuh"),
                               ("common/cuda/a.cpp", "common/peers/a.h"),
                               ("07_x/steps/a.cu", "common/python/a.h")):
            self.assertEqual(self.said({file: included}),
                             (1, f"{file}:2: includes {included}, which is above it\n"))

    def test_a_circle_of_folders_is_named(self):
        status, out = self.said({"05_x/steps/a.h": "05_x/program/b.h", "05_x/program/c.h": "05_x/fast/d.h",
                                 "05_x/fast/d.h": "05_x/steps/d.h"})
        self.assertEqual(status, 1)
        self.assertRegex(out, r"\Aa circle of folders:( 05_x/(steps|program|fast)){4}\n\Z")

    def test_a_path_that_is_not_from_the_top_is_named(self):
        self.assertEqual(self.said({"common/program/a.c": "report.h"}),
                         (1, "common/program/a.c:2: report.h: expected a path from the top of the course\n"))

    def test_a_stranger_at_the_top_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            subprocess.run(["git", "init", "-q"], check=True)
            for file in ("05_x/README.md", "common/a.txt", "Makefile", ".gitignore", "LICENSE", "GB"):
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text("")
            subprocess.run(["git", "add", "."], check=True)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                self.assertEqual(layers.main([]), 1)
            self.assertRegex(out.getvalue(), r"\AGB: expected only .* at the top\n\Z")

    def test_a_wrong_call_is_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(layers.main(["05_x"]), 2)
        self.assertIn("found '05_x'", err.getvalue())


if __name__ == "__main__":
    unittest.main()
