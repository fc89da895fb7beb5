from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

COURSE = Path(__file__).resolve().parents[3]
MORE = ["book-check", "classroom50", "docs-check", "gpu-build", "test-python"]


def make(*words: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", "-s", "--no-print-directory", *words], cwd=COURSE, env=environment, capture_output=True, text=True)


HELP = make("help-all").stdout
TYPED = re.search(r"^TYPED +:=((?:.*\\\n)*.*)", (COURSE / "common/tools/typed.mk").read_text(), re.M)[1].replace("\\", "").split()


def targets() -> list[str]:
    """The targets whose help names a variable, and similar ones."""
    found = re.findall(r"^make (\S+)(.*\n(?:  .*\n)*)", HELP, re.M)
    return [target for target, what in found if re.search(r"[A-Z]=", what)] + MORE


class Typed(unittest.TestCase):
    def test_each_variable_of_the_help_is_text(self):
        self.assertEqual(set(re.findall(r"\b([A-Z][A-Z_]*)=", HELP)) - {"BUILD", "CC"} - set(TYPED), set())

    def test_nothing_in_it_is_run_or_part_of_a_command(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = Path(folder) / "ran"
            text = f"it's $(shell touch {ran}) `touch {ran}` \"; touch {ran} #"
            for target in targets():
                done = make("-n", target, *(f"{name}={text}" for name in TYPED if name not in ("DRY", "GPU_ARCH")))
                self.assertFalse(str(ran) in done.stdout or ran.exists(), target)

    def test_what_is_refused_is_one_line(self):
        for message, *words in (
                ("write: TOKENS=it's: expected a whole number from 1 to 4096", "write", "TOKENS=it's"),
                (f"write: TOKENS={'7' * 5000}: expected a whole number", "write", "TOKENS=" + "7" * 5000),
                ("make starter-03: OUT=$(x)'s: expected letters", "starter-03", "OUT=$(x)'s"),
                ("make starter-03: PART=it's: expected one of", "starter-03", "OUT=build/free", "PART=it's"),
                ("make docs: PAGES: expected pages of the course, found 'it's'", "docs", "PAGES=it's"),
                ("STEP=it's: expected one of", "diff-05", "STEP=it's"),
                ("make cuda: GPU_ARCH: expected native, or numbers as in \"80 90\", found 'it's'", "cuda", "GPU_ARCH=it's"),
                ("make fuzz: SECONDS_OF_FUZZ: expected a whole number, found 'it's'", "fuzz", "SECONDS_OF_FUZZ=it's")):
            done = make(*words)
            said = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
            self.assertEqual((done.returncode, len(said)), (2, 1), done.stderr)
            self.assertIn(message, said[0])


if __name__ == "__main__":
    unittest.main()
