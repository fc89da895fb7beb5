"""Unused score options cost nothing: the loops of `complete` (05 and 07) have the same instructions as without them. gcc
only: other compilers' inlining varies by an instruction.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

COURSE = Path(__file__).resolve().parents[3]
HEADER = "common/problem/attention.h"
ASKED_FOR = 'return p->softcap > 0.0f ? "--softcap" : NULL;'
FLAGS = "-std=c17 -ffp-contract=fast -O3 -march=native -fopenmp -w -c".split()
PRODUCTS = 8  # products in a loop that matters


def jumps_back(code):
    """(first, last) of each loop in a function's instructions."""
    places = {place: n for n, (place, _, _) in enumerate(code)}
    for n, (place, operation, operands) in enumerate(code):
        to = re.match(r"([0-9a-f]+) <", operands)
        if operation[0] in "jb" and to and int(to[1], 16) <= place and int(to[1], 16) in places:
            yield places[int(to[1], 16)], n


def loops_with_products(text):
    """From objdump -d, the operations of each loop with products that is innermost, or in a softmax function. Registers
    may differ.
    """
    found = []
    functions = re.split(r"^[0-9a-f]+ <(.*)>:$", text, flags=re.M)
    for name, function in zip(functions[1::2], functions[2::2]):
        code = [(int(place, 16), operation, operands) for place, operation, operands in
                re.findall(r"^\s+([0-9a-f]+):\s+(\S+)[ \t]*(.*)$", function, flags=re.M)]
        loops = set(jumps_back(code))
        for first, last in loops:
            operations = tuple(operation for _, operation, _ in code[first:last + 1])
            if sum(re.match(r"v?f?n?m(ul|add|la)", of) is not None for of in operations) >= PRODUCTS and \
                    (name.startswith("softmax_") or not any(first <= a and b <= last and (a, b) != (first, last) for a, b in loops)):
                found.append(operations)
    return found


class Loops(unittest.TestCase):
    def loops_of(self, source, folders):
        with tempfile.TemporaryDirectory() as folder:
            built = os.path.join(folder, "a.o")
            subprocess.run(["gcc", *(f"-I{of}" for of in folders), *FLAGS, source, "-o", built], cwd=COURSE, check=True)
            return loops_with_products(subprocess.run(["objdump", "-d", "--no-show-raw-insn", built], check=True, text=True,
                                              capture_output=True).stdout)

    def test_are_those_of_a_course_without_changed_scores(self):
        version = shutil.which("gcc") and subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
        if not version or "Free Software" not in version or not shutil.which("objdump"):
            self.skipTest("expected gcc and objdump")
        header = (COURSE / HEADER).read_text(encoding="utf-8")
        self.assertIn(ASKED_FOR, header)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / HEADER).parent.mkdir(parents=True)
            (Path(folder) / HEADER).write_text(header.replace(ASKED_FOR, "return (void)p, NULL;"), encoding="utf-8")
            for source in "05_flash_tiled_cpu/fast/complete.c", "07_backward/fast/workspace.c":
                there, without = self.loops_of(source, ["."]), self.loops_of(source, [folder, "."])
                self.assertGreaterEqual(len(without), 3, source)
                self.assertEqual([of for of in without if of not in there], [], source)
                self.assertTrue([of for of in there if of not in without], f"{source}: a changed score has loops of its own")


if __name__ == "__main__":
    unittest.main()
