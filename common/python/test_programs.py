"""The library and the programs agree bit for bit."""
from __future__ import annotations

import numpy as np

import flash
from case import OPTIONS, Case, filled, problem


class Programs(Case):
    def test_values_are_the_programs_bit_for_bit(self):
        Q, K, V, _ = problem()
        options = filled(OPTIONS["all"], Q, K)
        arrays = {"q": Q, "k": K, "v": V, "key-mask": options["key_mask"], "block-mask": options["block_mask"]}
        arguments = ["--scale", "0.3", "--causal", "--window", "40,-1", "--mask-block", "32,16",
                     "--dropout", "0.1", "--dropout-seed", "7"]
        for step in ("dropout", "split_kv", "complete"):
            O, lse = self.program("05_flash_tiled_cpu", arrays, ["output", "lse"], arguments + ["--step", step])
            got = flash.forward(Q, K, V, step="05/" + step, **options)
            self.assertTrue(np.array_equal(O, got[0]) and np.array_equal(lse, got[1]), step)

    def test_gradients_are_the_programs_bit_for_bit(self):
        Q, K, V, dO = problem(Hkv=4)
        options = {"causal": "top-left", "dropout": 0.2, "dropout_seed": 11}
        arguments = ["--causal=top-left", "--dropout", "0.2", "--dropout-seed", "11"]
        O, lse = flash.forward(Q, K, V, tile=(64, 128), **options)
        for step in ("fa1", "complete"):
            right = self.program("07_backward", {"q": Q, "k": K, "v": V, "do": dO}, ["dq", "dk", "dv"],
                                 arguments + ["--step", step])
            got = flash.backward(Q, K, V, O, lse, dO, step="07/" + step, **options)
            for name, a, b in zip(("dQ", "dK", "dV"), right, got):
                self.assertTrue(np.array_equal(a, b), f"{step}: {name}")

    def test_tiles_are_those_asked_for(self):
        Q, K, V, dO = problem(1, 1, 1)
        O, lse = flash.forward(Q, K, V, step="05/fa2", tile=(5, 9))
        right = self.program("05_flash_tiled_cpu", {"q": Q, "k": K, "v": V}, ["output"],
                             ["--step", "fa2", "--br", "5", "--bc", "9"])[0]
        self.assertTrue(np.array_equal(O, right))
        held = flash.extra_bytes()
        self.assertEqual(held, 4 * (5 * 24 * 2 + 9 * 24 * 2 + 5 * 9 + 5 * 2))
        flash.backward(Q, K, V, O, lse, dO, step="07/fa2", tile=(3, 4))
        small = flash.extra_bytes()
        flash.backward(Q, K, V, O, lse, dO, step="07/fa2", tile=(50, 70))
        self.assertGreater(flash.extra_bytes(), small)

    def test_kernels_have_the_tiles_that_they_are_compiled_for(self):
        Q, K, V, _ = problem(1, 1, 1, 70, 150, 128)
        for kernel in ("budget", "complete"):
            usual, asked = (flash.forward(Q, K, V, step="06/" + kernel, dtype="bf16", tile=tile)[1]
                            for tile in (None, (64, 64)))
            right = self.program("06_flash_tiled_cuda", {"q": Q, "k": K, "v": V}, ["lse"],
                                 ["--step", kernel, "--dtype", "bf16", "--br", "64", "--bc", "64"])[0]
            self.assertTrue(np.array_equal(asked, right))
            self.assertFalse(np.array_equal(asked, usual), f"{kernel}: this tests nothing")
        for step, dtype, tile in (("06/complete", "bf16", (64, 65)), ("06/complete", "f32", (64, 64)),
                                  ("06/mma", "f16", (128, 64)), ("06/fa2", "f32", (128, 64))):
            self.refused(ValueError, f"{step}: expected what this step supports, found "
                         f"tile {tile[0]}, {tile[1]}", Q, K, V, step=step, dtype=dtype, tile=tile, out=None)
        self.refused(ValueError, "04/flash_no_tiling: expected what this step supports, found tile 64, 64",
                     Q, K, V, step="04/flash_no_tiling", tile=(64, 64), out=None)
