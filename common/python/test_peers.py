"""common/peers/checked.py computes errors as the programs do; common/peers/peer.py follows the protocol."""
from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
import checked  # noqa: E402
import peer  # noqa: E402

BUILD = os.environ.get("BUILD", "build")


def run(program, heads, n, outputs, *options):
    """Outputs, and the error with three digits."""
    with tempfile.TemporaryDirectory() as work:
        words = [word for name in outputs for word in (f"--{name}", f"{work}/{name}.npy")]
        subprocess.run([f"{BUILD}/{program}", "--quiet", "--heads", str(heads), "--n-q", str(n), "--d", "64", *options, *words,
                        "--csv", f"{work}/csv"], check=True, stdout=subprocess.DEVNULL)
        with open(f"{work}/csv", encoding="utf-8") as file:
            error = float(next(csv.DictReader(file))["error"])
        return [np.load(f"{work}/{name}.npy").reshape(heads, n, 64) for name in outputs], error


class Plain:
    """Records its calls."""
    name = "plain 1"

    def prepare(self, *asked):
        self.asked, self.calls = asked, 0
        return "the formula"

    def run(self):
        self.calls += 1

    def outputs(self):
        return [x + 1 for x in self.asked[0]]


def said(library, *lines):
    answers = []
    peer.serve(library, lines, answers.append)
    return answers


class Peers(unittest.TestCase):
    def same(self, found, error):
        self.assertLess(abs(found / error - 1), 2e-3, f"{found}, and the program found {error}")

    def test_errors_of_outputs_are_the_programs(self):
        for program, n, kind, options in (("05_flash_tiled_cpu", 200, "f32", ["--causal"]),
                                          ("05_flash_tiled_cpu", 4096, "f32", []),
                                          ("06_flash_tiled_cuda", 70, "bf16", ["--device", "cpu", "--step", "mma",
                                                                              "--dtype", "bf16"])):
            (O,), error = run(program, 2, n, ["output"], *options)
            self.same(checked.error_of_output(checked.problem(kind, 2, n, 64), "--causal" in options, O), error)

    def test_errors_of_gradients_are_the_programs(self):
        for n, options in ((200, []), (4096, ["--causal"])):
            gradients, error = run("07_backward", 1, n, ["dq", "dk", "dv"], *options)
            self.same(checked.error_of_gradients(checked.problem("f32", 1, n, 64), bool(options), *gradients), error)

    def test_a_library_answers_the_referee(self):
        with tempfile.TemporaryDirectory() as work:
            for k, name in enumerate(("q", "k", "v", "do")):
                np.save(f"{work}/{name}.npy", np.full((1, 2, 3, 4), k, np.float32))
            for backward, names in ((0, ["o"]), (1, ["dq", "dk", "dv"])):
                library = Plain()
                answers = said(library, f"problem {work} 1 2 3 4 1 5 {backward}\n", "time 0\n", f"write {work}\n")
                inputs, dO, *rest = library.asked
                self.assertEqual((answers[:2], answers[3:]), (["plain 1", "ready the formula"], ["written"]))
                self.assertRegex(answers[2], r"^took \d+\.\d{9}$")
                self.assertEqual(library.calls, 2, "the first of two short calls warms the caches")
                self.assertEqual(([x.flat[0] for x in inputs], dO.flat[0], rest), ([0, 1, 2], 3, [True, 5, bool(backward)]))
                for k, name in enumerate(names):
                    np.testing.assert_array_equal(np.load(f"{work}/{name}.npy"), inputs[k] + 1)

    def test_a_library_says_in_one_line_what_it_expected(self):
        with self.assertRaisesRegex(SystemExit, "expected problem, time or write, found: sing"):
            said(Plain(), "sing\n")
        for words in ([], ["numpy"], ["pytorch", "twice"]):
            found = subprocess.run([sys.executable, peer.__file__, *words], capture_output=True, text=True)
            self.assertEqual((found.returncode, found.stderr.count("\n")), (2, 1), found.stderr)
            self.assertIn("expected one of pytorch, onnxruntime, openvino, found: ", found.stderr)
