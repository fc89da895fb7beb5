"""Invalid calls raise the right messages and write nothing."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import flash
from case import Case, problem


class Refusals(Case):
    def test_shapes_that_do_not_fit_are_refused(self):
        Q, K, V, dO = problem()
        for message, *arrays in (
                ("Q: expected shape (N, d), (H, N, d) or (B, H, N, d), found (24,)", Q[0, 0, 0], K, V),
                ("K: expected as many dimensions as Q, 4, found 3", Q, K[0], V),
                ("K: expected the batch size of Q, 2, found 1", Q, K[:1], V),
                ("K: expected the row length of Q, 24, found 23", Q, K[..., 1:], V),
                ("K: expected a number of heads that divides the 3 of Q, found 2", Q[:, :3], K, V),
                ("V: expected the shape of K, (2, 2, 75, 24), found (2, 2, 74, 24)", Q, K, V[:, :, 1:]),
                ("Q: expected at least one element in each dimension, found (2, 4, 0, 24)", Q[:, :, :0], K, V),
                ("K: expected at least one element in each dimension, found (2, 2, 0, 24)", Q, K[:, :, :0], V),
                ("Q: expected rows of at most 256 elements, found 264", *(np.tile(x, 11) for x in (Q, K, V)))):
            self.refused(ValueError, message, *arrays)
        O, lse = flash.forward(Q, K, V)
        for message, *arrays in (
                ("O: expected the shape of Q, (2, 4, 53, 24), found (2, 4, 53, 23)", O[..., 1:], lse, dO),
                ("lse: expected the shape of Q without d, (2, 4, 53), found (2, 4, 52)", O, lse[..., 1:], dO),
                ("dO: expected the shape of Q, (2, 4, 53, 24), found (1, 4, 53, 24)", O, lse, dO[:1])):
            with self.assertRaises(ValueError) as caught:
                flash.backward(Q, K, V, *arrays)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaisesRegex(ValueError, "^dK: expected the shape of K, .2, 2, 75, 24., found .2, 4, 53, 24.$"):
            flash.explained(Q, K, V, dO=dO, dQ=Q, dK=Q, dV=V)
        for given in ({}, {"dQ": Q}, {"O": O, "dO": dO}):
            with self.assertRaisesRegex(ValueError, f"^explained: expected O or lse, .* found {', '.join(given) or 'none'}$"):
                flash.explained(Q, K, V, **given)

    def test_types_that_do_not_fit_are_refused(self):
        Q, K, V, _ = problem()
        self.refused(TypeError, "Q: expected float32, float16 or float64 numbers, found int64",
                     Q.astype(np.int64), K, V)
        self.refused(TypeError, "V: expected float32, float16 or float64 numbers, found complex64",
                     Q, K, V.astype(np.complex64))
        self.refused(TypeError, "key_mask: expected a mask of bool or uint8, found float32",
                     Q, K, V, key_mask=np.ones((2, 75), np.float32))
        self.refused(ValueError, "key_mask: expected shape (B, Nk) = (2, 75), found (75,)",
                     Q, K, V, key_mask=np.ones(75, bool))
        self.refused(ValueError, "block_mask: expected shape (ceil(Nq / 16), ceil(Nk / 32)) = (4, 3), found (1, 1)",
                     Q, K, V, block_mask=np.ones((1, 1), bool), mask_block=(16, 32))

    def test_options_that_make_no_sense_are_refused(self):
        arrays = problem()[:3]
        for message, options in (
                ("dropout: expected 0 <= P < 1, found 1.0", {"dropout": 1.0}),
                ("dropout: expected 0 <= P < 1, found nan", {"dropout": float("nan")}),
                ("dropout_seed: expected 0 to 18446744073709551615, found -1", {"dropout_seed": -1}),
                ("scale: expected a finite float32, found 1e+39", {"scale": 1e39}),
                ("scale: expected a finite float32, found nan", {"scale": float("nan")}),
                ("softcap: expected a finite float32 above 0, or 0 for none, found 1e-46", {"softcap": 1e-46}),
                ("softcap: expected a finite float32 above 0, or 0 for none, found -3.5", {"softcap": -3.5}),
                ("softcap: expected a finite float32 above 0, or 0 for none, found nan", {"softcap": float("nan")}),
                ("softcap: expected a finite float32 above 0, or 0 for none, found 1e+39", {"softcap": 1e39}),
                ("05/dropout: expected what this step supports, found softcap", {"step": "05/dropout", "softcap": 2}),
                ("04/flash_no_tiling: expected what this step supports, found softcap",
                 {"step": "04/flash_no_tiling", "softcap": 2}),
                ("06/complete: expected what this step supports, found softcap",
                 {"step": "06/complete", "softcap": 2}),
                ("window: expected at least -1, found -2", {"window": (-2, 0)}),
                ("window: expected two numbers, found 5", {"window": 5}),
                ("mask_block: expected at least 1, found 0", {"mask_block": (0, 1)}),
                ("tile: expected at least 1, found 0", {"tile": (1, 0)}),
                ("threads: expected 1 to 1024, found 0", {"threads": 0}),
                ("causal: expected True, False, 'bottom-right' or 'top-left', found 'yes'", {"causal": "yes"}),
                ("dtype: expected f32, bf16, f16, found 'f64'", {"dtype": "f64"}),
                ("window: expected -1 to 4611686018427387904, found 4611686018427387905", {"window": (0, 2**62 + 1)}),
                ("05/complete: expected what this step supports, found dtype f16", {"dtype": "f16"}),
                ("06/mma: expected what this step supports, found dtype f32", {"step": "06/mma"}),
                ("06/complete: expected what this step supports, found d = 24 (d is 32, 64, 96, 128 or 256 "
                 "with dtype f16)", {"step": "06/complete", "dtype": "f16"}),
                ("05/fa2: expected what this step supports, found causal",
                 {"step": "05/fa2", "causal": True})):
            self.refused(ValueError, message, *arrays, **options)
        self.refused(TypeError, "dropout_seed: expected a whole number, found 1.5", *arrays, dropout_seed=1.5)
        self.refused(TypeError, "dropout: expected a number, found 'half'", *arrays, dropout="half")
        self.refused(TypeError, "scale: expected a number, found [1.0]", *arrays, scale=[1.0])
        with self.assertRaises(TypeError):
            flash.forward(*arrays, casual=True)
        for step in ("05/fa3", "07/complete"):
            with self.assertRaisesRegex(ValueError, "step: expected one of 04/standard_attention, .*; found '" + step):
                flash.forward(*arrays, step=step)
        with self.assertRaisesRegex(ValueError, "step: expected one of 07/standard, .*; found '05/complete'"):
            flash.backward(*arrays, None, None, None, step="05/complete")
        Q, K, V, dO = problem()
        O, lse = flash.forward(Q, K, V)
        with self.assertRaisesRegex(ValueError, "^07/fa2: expected what this step supports, found kv_heads$"):
            flash.backward(Q, K, V, O, lse, dO, step="07/fa2")

    def test_outputs_that_cannot_be_written_are_refused(self):
        Q, K, V, dO = problem(Hkv=4, Nk=53)
        frozen = np.zeros_like(Q)
        frozen.flags.writeable = False
        for kind, out in ((ValueError, Q), (ValueError, V[...]), (ValueError, frozen), (TypeError, Q.astype(float)),
                          (ValueError, np.zeros_like(Q)[:1]), (ValueError, np.zeros((24, 53, 4, 2), "f4").T),
                          (TypeError, [1.0])):
            with self.assertRaisesRegex(kind, "^out: expected "):
                flash.forward(Q, K, V, out=out)
        O, lse = flash.forward(Q, K, V)
        same = np.zeros_like(Q)
        with self.assertRaisesRegex(ValueError, "^dV: expected memory of its own, found that of another array"):
            flash.backward(Q, K, V, O, lse, dO, out=(None, same, same))
        for out, found in ((None, "NoneType"), (same, "ndarray"), ((None, same), "2")):
            with self.assertRaisesRegex(ValueError, "^out: expected three arrays, found " + found):
                flash.backward(Q, K, V, O, lse, dO, out=out)
        with self.assertRaisesRegex(ValueError, "^lse: expected a step that writes it, and 05/standard does not"):
            flash.forward(Q, K, V, step="05/standard", lse=np.zeros(Q.shape[:-1], np.float32))
        with self.assertRaisesRegex(ValueError, "^lse: expected shape"):
            flash.forward(Q, K, V, lse=np.zeros((2, 4), np.float32))
        room = np.zeros(Q.size + 100, np.float32)
        with self.assertRaisesRegex(ValueError, "^out: expected memory of its own"):
            flash.forward(Q, K, V, out=room[:Q.size].reshape(Q.shape), lse=room[-lse.size - 90:][:lse.size].reshape(lse.shape))

    def test_a_library_that_is_not_there_is_named(self):
        done = subprocess.run([sys.executable, "-c", "import flash; flash.steps()"], capture_output=True, text=True,
                              cwd=Path(flash.__file__).parent, env={**os.environ, "FLASH_LIBRARY": "/nowhere.so"})
        self.assertIn("ImportError: /nowhere.so: expected the library, which make python builds", done.stderr)
