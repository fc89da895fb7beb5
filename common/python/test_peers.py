"""What the tables of a GPU call PyTorch's error is what programs call theirs: common/peers/checked.py."""
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

BUILD = os.environ.get("BUILD", "build")


def run(program, heads, n, outputs, *options):
    """What the program wrote, and the error that it found, with three digits."""
    with tempfile.TemporaryDirectory() as work:
        words = [word for name in outputs for word in (f"--{name}", f"{work}/{name}.npy")]
        subprocess.run([f"{BUILD}/{program}", "--quiet", "--heads", str(heads), "--n-q", str(n), "--d", "64", *options, *words,
                        "--csv", f"{work}/csv"], check=True, stdout=subprocess.DEVNULL)
        with open(f"{work}/csv", encoding="utf-8") as file:
            error = float(next(csv.DictReader(file))["error"])
        return [np.load(f"{work}/{name}.npy").reshape(heads, n, 64) for name in outputs], error


class Peers(unittest.TestCase):
    def same(self, found, error):
        self.assertLess(abs(found / error - 1), 2e-3, f"{found}, and the program found {error}")

    def test_errors_of_outputs_are_the_programs(self):
        for program, n, kind, options in (("05_flash_tiled_cpu", 200, "f32", ["--causal"]),
                                          ("05_flash_tiled_cpu", 4096, "f32", []),
                                          ("06_flash_tiled_cuda", 70, "bf16", ["--device", "cpu", "--kernel", "mma",
                                                                              "--dtype", "bf16"])):
            (O,), error = run(program, 2, n, ["output"], *options)
            self.same(checked.error_of_output(checked.problem(kind, 2, n, 64), "--causal" in options, O), error)

    def test_errors_of_gradients_are_the_programs(self):
        for n, options in ((200, []), (4096, ["--causal"])):
            gradients, error = run("07_backward", 1, n, ["dq", "dk", "dv"], *options)
            self.same(checked.error_of_gradients(checked.problem("f32", 1, n, 64), bool(options), *gradients), error)
