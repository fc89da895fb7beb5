"""Tests of flash.py and of the library behind it: test_flash.py [RESULT [test...]].

Leaves "passed failed skipped" in the file RESULT. The programs are those in the folder BUILD, or build/.
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
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
    "dropout": {"dropout": 0.3, "dropout_seed": 2**63 + 5},
    "all": {"scale": 0.3, "causal": True, "window": (40, -1), "key_mask": "random",
            "block_mask": "random", "mask_block": (32, 16), "dropout": 0.1, "dropout_seed": 7},
}


def problem(B=2, H=4, Hkv=2, Nq=53, Nk=75, d=24, seed=1):
    """Q, K, V and dO."""
    numbers = np.random.default_rng(seed)
    shapes = (B, H, Nq, d), (B, Hkv, Nk, d), (B, Hkv, Nk, d), (B, H, Nq, d)
    return [numbers.standard_normal(shape).astype(np.float32) for shape in shapes]


def filled(options: dict, Q, K) -> dict:
    """The options with masks in the shapes of this problem."""
    numbers, options = np.random.default_rng(2), dict(options)
    rows, cols = options.get("mask_block", (64, 64))
    if "key_mask" in options:
        options["key_mask"] = numbers.random((Q.shape[0], K.shape[2])) < 0.7
    if "block_mask" in options:
        shape = (-(-Q.shape[2] // rows), -(-K.shape[2] // cols))
        options["block_mask"] = (numbers.random(shape) < 0.6).astype(np.uint8)
    return options


def can(step: str, Q, K, V, options) -> bool:
    try:
        flash.forward(Q[..., :1, :], K[..., :1, :], V[..., :1, :], step=step, **{
            name: value for name, value in options.items() if not name.endswith("mask")})
    except ValueError:
        return False
    return not ({"key_mask", "block_mask"} & set(options)) or step.split("/")[1] in (
        "flash_no_tiling", "masks", "dropout", "split_kv", "complete") and not (
        step == "04/flash_no_tiling" and "dropout" in options)


class Flash(unittest.TestCase):
    def right(self, got, right, plain, what, gradient=False):
        wrong = reference.disagreement(got, right, plain, gradient)
        self.assertIsNone(wrong, f"{what}: {wrong}")

    def check_forward(self, step, options, Q, K, V):
        options = filled(options, Q, K)
        right, plain = (reference.Attention(Q, K, V, dtype, **options) for dtype in (np.float64, np.float32))
        O, lse = flash.forward(Q, K, V, step=step, **options)
        self.right(O, right.O, plain.O, f"{step}, {list(options)}: O")
        if lse is not None:
            self.right(lse, right.lse, plain.lse, f"{step}, {list(options)}: lse")

    def check_backward(self, step, options, Q, K, V, dO):
        options = filled(options, Q, K)
        right, plain = (reference.Attention(Q, K, V, dtype, **options) for dtype in (np.float64, np.float32))
        O, lse = flash.forward(Q, K, V, **options)
        got = flash.backward(Q, K, V, O, lse, dO, step=step, **options)
        for name, *g in zip(("dQ", "dK", "dV"), got, right.gradients(dO), plain.gradients(dO)):
            self.right(*g, f"{step}, {list(options)}: {name}", gradient=True)

    # ---- values ----

    def test_every_step_on_the_cpu_computes_attention(self):
        Q, K, V, _ = problem()
        for step in FORWARD:
            if step not in CUDA and step != "05/block_matmul":
                self.check_forward(step, {}, Q, K, V)

    def test_kernels_compute_attention(self):
        Q, K, V, _ = problem(1, 2, 1, 20, 37, 64)
        for step in CUDA:
            try:
                self.check_forward(step, {"causal": True}, Q, K, V)
            except ValueError as error:
                self.assertIn("dtype", str(error))
        self.check_forward("06/complete", OPTIONS["all"], Q, K, V)

    def test_kernels_for_16_bits_round_what_they_read(self):
        Q, K, V, _ = problem(1, 1, 1, 20, 37, 64)
        rounded = [x.astype(np.float16).astype(np.float32) for x in (Q, K, V)]
        O, _ = flash.forward(Q, K, V, step="06/mma", dtype="f16")
        again, _ = flash.forward(*rounded, step="06/mma", dtype="f16")
        self.assertTrue(np.array_equal(O, again))
        self.assertLess(np.abs(O - reference.Attention(*rounded).O).max(), 2e-3)
        self.assertTrue(np.array_equal(O, O.astype(np.float16)))

    def test_block_matmul_has_no_softmax(self):
        Q, K, V, _ = problem(1, 1, 1, 9, 11, 5)
        O, lse = flash.forward(Q, K, V, step="05/block_matmul")
        self.assertIsNone(lse)
        self.assertTrue(np.allclose(O, (Q @ K.swapaxes(-1, -2)) @ V / np.sqrt(5), atol=1e-5))

    def test_every_backward_step_computes_the_gradients(self):
        for step in BACKWARD:
            self.check_backward(step, OPTIONS["key_mask"], *problem(Hkv=4))

    def test_every_option_reaches_the_step(self):
        Q, K, V, dO = problem()
        for options in OPTIONS.values():
            self.check_forward("05/complete", options, Q, K, V)
            self.check_backward("07/complete", options, Q, K, V, dO)

    def test_options_change_the_answer(self):
        Q, K, V, _ = problem()
        answers = [flash.forward(Q, K, V, **filled(o, Q, K))[0] for o in OPTIONS.values()]
        same = {(list(OPTIONS)[a], list(OPTIONS)[b]) for a in range(len(answers)) for b in range(a)
                if np.array_equal(answers[a], answers[b])}
        self.assertEqual(same, {("bottom-right", "causal")})

    def test_a_step_either_knows_an_option_or_refuses_it(self):
        Q, K, V, _ = problem()
        for step in FORWARD:
            if step in CUDA or step == "05/block_matmul":
                continue
            for options in OPTIONS.values():
                if can(step, Q, K, V, options):
                    self.check_forward(step, options, Q, K, V)
                else:
                    with self.assertRaisesRegex(ValueError, f"{step}: expected a problem without .*: [a-z]"):
                        flash.forward(Q, K, V, step=step, **filled(options, Q, K))

    def test_hidden_keys_are_not_read(self):
        Q, K, V, dO = problem()
        mask = np.ones((2, 75), bool)
        mask[:, 40:] = mask[1] = False
        right = flash.forward(Q, K, V, key_mask=mask)
        K[:, :, 40:] = V[:, :, 40:] = K[1] = V[1] = np.nan
        O, lse = flash.forward(Q, K, V, key_mask=mask)
        self.assertTrue(np.array_equal(O, right[0]) and np.array_equal(lse, right[1]))
        self.assertTrue((O[1] == 0).all() and np.isneginf(lse[1]).all())
        gradients = flash.backward(Q, K, V, O, lse, dO, key_mask=mask)
        self.assertFalse(any(np.isnan(g).any() for g in gradients))

    def test_dropout_draws_the_same_numbers_as_numpy_does(self):
        V = np.eye(32, dtype=np.float32)[None, None].repeat(2, 0).repeat(3, 1)
        Q, K = np.zeros((2, 3, 21, 32), np.float32), np.zeros((2, 3, 32, 32), np.float32)
        kept = reference.dropout_keeps(2, 3, 21, 32, 0.4, 2**64 - 1)
        for step in ("05/dropout", "05/split_kv", "05/complete", "06/complete"):
            O, _ = flash.forward(Q, K, V, step=step, dropout=0.4, dropout_seed=2**64 - 1)
            self.assertTrue(np.array_equal(O != 0, kept), step)

    # ---- bit for bit ----

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

    def test_values_are_the_programs_bit_for_bit(self):
        Q, K, V, _ = problem()
        options = filled(OPTIONS["all"], Q, K)
        arrays = {"q": Q, "k": K, "v": V, "key-mask": options["key_mask"], "block-mask": options["block_mask"]}
        arguments = ["--scale", "0.3", "--causal", "--window", "40,-1", "--mask-block", "32,16",
                     "--dropout", "0.1", "--dropout-seed", "7"]
        for step in ("dropout", "split_kv", "complete"):
            O, lse = self.program("05_flash_tiled_cpu", arrays, ["output", "lse"], arguments + ["--kernel", step])
            got = flash.forward(Q, K, V, step="05/" + step, **options)
            self.assertTrue(np.array_equal(O, got[0]) and np.array_equal(lse, got[1]), step)

    def test_gradients_are_the_programs_bit_for_bit(self):
        Q, K, V, dO = problem(Hkv=4)
        options = {"causal": "top-left", "dropout": 0.2, "dropout_seed": 11}
        arguments = ["--causal=top-left", "--dropout", "0.2", "--dropout-seed", "11"]
        O, lse = flash.forward(Q, K, V, tile=(64, 128), **options)
        for step in ("fa1", "complete"):
            right = self.program("07_backward", {"q": Q, "k": K, "v": V, "do": dO}, ["dq", "dk", "dv"],
                                 arguments + ["--kernel", step])
            got = flash.backward(Q, K, V, O, lse, dO, step="07/" + step, **options)
            for name, a, b in zip(("dQ", "dK", "dV"), right, got):
                self.assertTrue(np.array_equal(a, b), f"{step}: {name}")

    def test_tiles_are_those_asked_for(self):
        Q, K, V, dO = problem(1, 1, 1)
        O, lse = flash.forward(Q, K, V, step="05/fa2", tile=(5, 9))
        right = self.program("05_flash_tiled_cpu", {"q": Q, "k": K, "v": V}, ["output"],
                             ["--kernel", "fa2", "--br", "5", "--bc", "9"])[0]
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
                                 ["--kernel", kernel, "--dtype", "bf16", "--br", "64", "--bc", "64"])[0]
            self.assertTrue(np.array_equal(asked, right))
            self.assertFalse(np.array_equal(asked, usual), f"{kernel}: this tests nothing")
        for step, dtype, tile in (("06/complete", "bf16", (64, 65)), ("06/complete", "f32", (64, 64)),
                                  ("06/mma", "f16", (128, 64)), ("06/fa2", "f32", (128, 64))):
            self.refused(ValueError, f"{step}: expected a problem without what this step lacks: "
                         f"tile {tile[0]}, {tile[1]}", Q, K, V, step=step, dtype=dtype, tile=tile, out=None)
        self.refused(ValueError, "04/flash_no_tiling: expected a problem without what this step lacks: tile",
                     Q, K, V, step="04/flash_no_tiling", tile=(64, 64), out=None)

    # ---- threads ----

    def test_threads_do_not_change_the_answer(self):
        Q, K, V, dO = problem(1, 2, 1, 200, 190, 16)
        answers = []
        for threads in (1, 2, 5, None):
            O, lse = flash.forward(Q, K, V, threads=threads, dropout=0.1)
            answers.append((O, lse, *flash.backward(Q, K, V, O, lse, dO, threads=threads, dropout=0.1)))
        for other in answers[1:]:
            self.assertTrue(all(np.array_equal(a, b) for a, b in zip(answers[0], other)))

    def test_as_many_threads_work_as_openmp_is_set_to(self):
        code = ("import numpy as np, flash; x = np.ones((40, 8), np.float32); flash.forward(x, x, x)\n"
                "a = flash.extra_bytes(); flash.forward(x, x, x, threads=2)\n"
                "b = flash.extra_bytes(); flash.forward(x, x, x); print(a, b, flash.extra_bytes())")
        held = []
        for threads in ("1", "2", "3"):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                                  cwd=Path(flash.__file__).parent, env={**os.environ, "OMP_NUM_THREADS": threads})
            held.append([int(x) for x in done.stdout.split()])
        one, two, three = held
        self.assertEqual(one[0], one[2])
        self.assertEqual(three[0], three[2])
        if one[0] == one[1]:
            self.skipTest("the library was built without OpenMP")
        self.assertEqual(two[0], 2 * one[0])
        self.assertEqual(three[0], 3 * one[0])
        self.assertEqual([one[1], three[1]], [two[0], two[0]])

    def test_python_threads_may_call_at_the_same_time(self):
        Q, K, V, dO = problem(1, 2, 2)
        O, lse = flash.forward(Q, K, V)
        right = flash.backward(Q, K, V, O, lse, dO, step="07/standard")
        wrong = []

        def work():
            for _ in range(10):
                got = flash.backward(Q, K, V, O, lse, dO, step="07/standard")
                wrong.extend(name for name, a, b in zip("QKV", got, right) if not np.array_equal(a, b))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    # ---- memory ----

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
                    if step.name.startswith("04/"):  # which has no tiles
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
                    self.assertLessEqual(flash.extra_bytes(), step.door.room(step.number, p, call, 3),
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

    # ---- PyTorch ----

    def test_autograd_gives_the_steps_gradients(self):
        try:
            import torch
            import flash_torch
        except ImportError:
            self.skipTest("no PyTorch here")
        Q, K, V, dO = problem()
        options = filled(OPTIONS["all"], Q, K)
        q, k, v = (torch.from_numpy(x).requires_grad_() for x in (Q, K, V))
        masks = {name: torch.from_numpy(options[name]) for name in ("key_mask", "block_mask")}
        O = flash_torch.attention(q, k, v, **{**options, **masks})
        O.backward(torch.from_numpy(dO))
        right, lse = flash.forward(Q, K, V, **options)
        self.assertTrue(np.array_equal(O.detach().numpy(), right))
        for x, g in zip((q, k, v), flash.backward(Q, K, V, right, lse, dO, **options)):
            self.assertTrue(np.array_equal(x.grad.numpy(), g))
        narrow = flash_torch.attention(*(x.detach().bfloat16() for x in (q, k, v)))
        self.assertEqual(narrow.dtype, torch.bfloat16)
        with self.assertRaisesRegex(ValueError, "^step: expected one that writes lse, .* found '05/standard'"):
            flash_torch.attention(q, k, v, step="05/standard")
        with self.assertRaisesRegex(ValueError, "expected tensors on the CPU, found one on meta"):
            flash_torch.attention(q.to("meta"), k, v)

    # ---- what is refused ----

    def refused(self, kind, message, *arrays, **options):
        out = np.full((2, 4, 53, 24), np.nan, np.float32)
        with self.assertRaises(kind) as caught:
            flash.forward(*arrays, **{"out": out, **options})
        self.assertEqual(str(caught.exception), message)
        self.assertTrue(np.isnan(out).all())

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
                ("window: expected at least -1, found -2", {"window": (-2, 0)}),
                ("window: expected two numbers, found 5", {"window": 5}),
                ("mask_block: expected at least 1, found 0", {"mask_block": (0, 1)}),
                ("tile: expected at least 1, found 0", {"tile": (1, 0)}),
                ("threads: expected 1 to 1024, found 0", {"threads": 0}),
                ("causal: expected True, False, 'bottom-right' or 'top-left', found 'yes'", {"causal": "yes"}),
                ("dtype: expected f32, bf16, f16, found 'f64'", {"dtype": "f64"}),
                ("window: expected -1 to 4611686018427387904, found 4611686018427387905", {"window": (0, 2**62 + 1)}),
                ("05/complete: expected a problem without what this step lacks: dtype", {"dtype": "f16"}),
                ("06/mma: expected a problem without what this step lacks: dtype f32", {"step": "06/mma"}),
                ("06/complete: expected a problem without what this step lacks: d = 24 (d is 32, 64, 96, 128 or 256 "
                 "with dtype f16)", {"step": "06/complete", "dtype": "f16"}),
                ("05/fa2: expected a problem without what this step lacks: causal",
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
        with self.assertRaisesRegex(ValueError, "^07/fa2: .* lacks: kv_heads$"):
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


def main() -> int:
    result, *names = [*sys.argv[1:], os.devnull][:1] + sys.argv[2:]
    suite = (unittest.defaultTestLoader.loadTestsFromNames([f"Flash.{name}" for name in names], sys.modules[__name__])
             if names else unittest.defaultTestLoader.loadTestsFromTestCase(Flash))
    ran = unittest.TextTestRunner(sys.stdout, verbosity=2).run(suite)
    failed, skipped = len(ran.failures) + len(ran.errors), len(ran.skipped)
    passed = suite.countTestCases() - failed - skipped
    Path(result).write_text(f"{passed} {failed} {skipped}\n")
    return 1 if failed or ran.testsRun < suite.countTestCases() else 0


if __name__ == "__main__":
    sys.exit(main())
