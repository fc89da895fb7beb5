"""Memory that is read and written, and bounds of extra memory."""
from __future__ import annotations

import numpy as np

import flash
from case import CUDA, Case, problem


class Memory(Case):
    def test_arrays_are_used_where_they_lie(self):
        Q, K, V, dO = problem()
        self.assertIs(flash.floats("Q", Q), Q)
        O, lse = np.full_like(Q, np.nan), np.full(Q.shape[:3], np.nan, np.float32)
        got = flash.forward(Q, K, V, out=O, lse=lse)
        self.assertTrue(got[0] is O and got[1] is lse)
        self.assertFalse(np.isnan(O).any() or np.isnan(lse).any())
        out = [np.full_like(x, np.nan) for x in (Q, K, V)]
        got = flash.backward(Q, K, V, O, lse, dO, out=out)
        for a, b in zip(got, out):
            self.assertIs(a, b)
            self.assertFalse(np.isnan(b).any())

    def test_other_types_and_layouts_are_converted(self):
        Q, K, V, _ = problem()
        right, _ = flash.forward(Q, K, V)
        strange = [np.asfortranarray(Q), K.astype(np.float64), V[:, :, ::-1].copy()[:, :, ::-1]]
        self.assertTrue(np.array_equal(flash.forward(*strange)[0], right))
        self.assertTrue(np.array_equal(flash.forward(Q.astype(">f4"), K, V)[0], right))
        room = np.zeros(Q.nbytes + 1, np.uint8)[1:]
        crooked = np.frombuffer(room, np.float32).reshape(Q.shape)
        crooked[...] = Q
        self.assertFalse(crooked.flags.aligned)
        self.assertTrue(np.array_equal(flash.forward(crooked, K, V)[0], right))
        half = Q.astype(np.float16)
        self.assertTrue(np.array_equal(flash.forward(half, K, V)[0],
                                       flash.forward(half.astype(np.float32), K, V)[0]))

    def test_two_and_three_dimensions_are_one_head_and_one_batch_entry(self):
        Q, K, V, dO = problem()
        for cut in ((0, 0), (1,)):
            q, k, v, g = (np.ascontiguousarray(x[cut]) for x in (Q, K, V, dO))
            wide = [x[(None,) * len(cut)] for x in (q, k, v, g)]
            O, lse = flash.forward(q, k, v)
            right, right_lse = flash.forward(*wide[:3])
            self.assertTrue(O.shape == q.shape and np.array_equal(O, right[(0,) * len(cut)]))
            self.assertTrue(np.array_equal(lse, right_lse[(0,) * len(cut)]))
            for a, b in zip(flash.backward(q, k, v, O, lse, g),
                            flash.backward(*wide[:3], right, right_lse, wide[3])):
                self.assertTrue(np.array_equal(a, b[(0,) * len(cut)]))

    def test_no_step_takes_more_memory_than_its_bound(self):
        shapes = ((1, 1, 1, 1, 1, 1), (1, 2, 1, 300, 200, 8), (2, 1, 1, 64, 1000, 100), (1, 1, 1, 7, 2000, 256),
                  (1, 1, 1, 1000, 1000, 4))
        for shape in shapes:
            Q, K, V, dO = problem(*shape)
            for tile in (None, (1, 1), (33, 65), (5000, 5000)):
                options = {"tile": tile, "threads": 3, "key_mask": np.ones((shape[0], shape[4]), bool)}
                O, lse = flash.forward(Q, K, V, **options)
                for step in flash.steps().values():
                    if step.name in CUDA or step.backward and shape[1] != shape[2] and step.name != "07/complete":
                        continue
                    asked = options if step.backward or step.lse else {**options, "key_mask": None}
                    if step.name.startswith("04/"):  # it has no tiles
                        asked = {**asked, "tile": None}
                    try:
                        if step.backward:
                            flash.backward(Q, K, V, O, lse, dO, step=step.name, **asked)
                        else:
                            flash.forward(Q, K, V, step=step.name, **asked)
                    except ValueError:
                        flash.forward(Q, K, V, step=step.name, **{**asked, "key_mask": None})
                    p, _ = flash._problem(Q, K, V, flash.Options())
                    call = flash.Call(br=tile[0] if tile else 0, bc=tile[1] if tile else 0)
                    self.assertLessEqual(flash.extra_bytes(), step.binding.room(step.number, p, call, 3),
                                         f"{step.name}, {shape}, tile {tile}")

    def test_too_little_memory_is_an_exception(self):
        x = np.ones((2**23, 1), np.float32)
        out = np.full_like(x, np.nan)
        with self.assertRaises(MemoryError):
            flash.forward(x, x, x, step="04/standard_attention", out=out)
        with self.assertRaisesRegex(MemoryError, "^05/standard: out of memory: it needs up to 5.63e"):
            flash.forward(x, x, x, step="05/standard", out=out)
        with self.assertRaises(MemoryError):
            flash.backward(x, x, x, x, x[:, 0], x, step="07/standard")
        with self.assertRaises(MemoryError):
            flash.forward(x, x, x, step="05/fa2", tile=(2**23, 2**23), out=out)
        self.assertTrue(np.isnan(out).all())
