"""Shared by the tests of flash.py."""
from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

import flash
import reference

BUILD = Path(os.environ.get("BUILD", "build"))
FORWARD = [s.name for s in flash.steps().values() if not s.backward]
BACKWARD = [s.name for s in flash.steps().values() if s.backward]
CUDA = [name for name in FORWARD if name.startswith("06/")]
OPTIONS = {
    "nothing": {},
    "scale": {"scale": -0.7},
    "causal": {"causal": True},
    "bottom-right": {"causal": "bottom-right"},
    "top-left": {"causal": "top-left"},
    "window": {"window": (20, 3)},
    "window_left": {"window": (11, -1)},
    "window_right": {"window": (-1, 5)},
    "key_mask": {"key_mask": "random"},
    "block_mask": {"block_mask": "random", "mask_block": (16, 24)},
    "softcap": {"softcap": 0.8, "scale": 0.5},
    "dropout": {"dropout": 0.3, "dropout_seed": 2**63 + 5},
    "all": {"scale": 0.3, "causal": True, "window": (40, -1), "key_mask": "random",
            "block_mask": "random", "mask_block": (32, 16), "dropout": 0.1, "dropout_seed": 7},
}


def problem(B=2, H=4, Hkv=2, Nq=53, Nk=75, d=24, seed=1):
    numbers = np.random.default_rng(seed)
    shapes = (B, H, Nq, d), (B, Hkv, Nk, d), (B, Hkv, Nk, d), (B, H, Nq, d)
    return [numbers.standard_normal(shape).astype(np.float32) for shape in shapes]


def filled(options: dict, Q, K) -> dict:
    numbers, options = np.random.default_rng(2), dict(options)
    rows, cols = options.get("mask_block", (64, 64))
    if "key_mask" in options:
        options["key_mask"] = numbers.random((Q.shape[0], K.shape[2])) < 0.7
    if "block_mask" in options:
        shape = (-(-Q.shape[2] // rows), -(-K.shape[2] // cols))
        options["block_mask"] = (numbers.random(shape) < 0.6).astype(np.uint8)
    return options


def can(step: str, Q, K, V, options) -> bool:
    """Tries one query and one key."""
    first = [x[..., :1, :] for x in (Q, K, V)]
    try:
        flash.forward(*first, step=step, **filled(options, *first[:2]))
    except ValueError:
        return False
    return True


class Case(unittest.TestCase):
    def right(self, what, Q, K, V, options, **results):
        for name, x in flash.explained(Q, K, V, **results, **options).items():
            self.assertLessEqual(x, 1, f"{what}, {list(options)}: {name}, in units of what rounding explains")

    def check_forward(self, step, options, Q, K, V):
        options = filled(options, Q, K)
        O, lse = flash.forward(Q, K, V, step=step, **options)
        self.right(step, Q, K, V, options, O=O, lse=lse)
        numpy = reference.Attention(Q, K, V, **options)
        self.right("NumPy", Q, K, V, options, O=numpy.O, lse=numpy.lse)

    def check_backward(self, step, options, Q, K, V, dO):
        options = filled(options, Q, K)
        O, lse = flash.forward(Q, K, V, **options)
        got = flash.backward(Q, K, V, O, lse, dO, step=step, **options)
        for what, (dQ, dK, dV) in ((step, got), ("NumPy", reference.Attention(Q, K, V, **options).gradients(dO))):
            self.right(what, Q, K, V, options, dO=dO, dQ=dQ, dK=dK, dV=dV)

    def program(self, chapter, arrays, outputs, arguments):
        with tempfile.TemporaryDirectory() as folder:
            command = [str(BUILD / chapter), "--quiet", *arguments]
            for name, x in arrays.items():
                np.save(f"{folder}/{name}.npy", x)
                command += [f"--{name}", f"{folder}/{name}.npy"]
            for name in outputs:
                command += [f"--{name}", f"{folder}/out-{name}.npy"]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return [np.load(f"{folder}/out-{name}.npy") for name in outputs]

    def refused(self, kind, message, *arrays, **options):
        out = np.full((2, 4, 53, 24), np.nan, np.float32)
        with self.assertRaises(kind) as caught:
            flash.forward(*arrays, **{"out": out, **options})
        self.assertEqual(str(caught.exception), message)
        self.assertTrue(np.isnan(out).all())
