"""flash.check: the causes of wrong kernels by name, and right ones on all cases."""
from __future__ import annotations

import numpy as np

import flash
import reference
from case import Case, problem


def kernel(Q, K, V, mistake="", half=np.float16, tile=16, scale=None, softcap=None, dropout=0.0, **masks):
    """O and lse of float16 inputs, P in float16, with a mistake."""
    q, k, v = (x.astype(np.float32) for x in (Q, K, V))
    (B, H, Nq, d), (Hkv, Nk) = Q.shape, K.shape[1:3]
    if mistake == "exchanged":
        q, k, v = (x.reshape(B, -1, x.shape[1], d).swapaxes(1, 2) for x in (q, k, v))
    heads = np.arange(H) % Hkv if mistake == "modulo" else np.arange(H) // (H // Hkv)
    k, v = k[:, heads], v[:, heads]
    S = q @ k.swapaxes(-1, -2) * np.float32(1 if mistake == "no scale" else 1 / d if mistake == "scale twice" else scale or d**-0.5)
    seen = reference.visible(B, Nq, Nk, **masks)
    if softcap and mistake == "softcap after mask":
        S = softcap * np.tanh(np.where(seen, S, -1e9) / softcap)
    else:
        S = np.where(seen, softcap * np.tanh(S / softcap) if softcap else S, -np.inf)
    if mistake == "padding":
        more = -Nk % 32
        S, v = np.pad(S, [(0, 0)] * 3 + [(0, more)]), np.pad(v, [(0, 0)] * 2 + [(0, more), (0, 0)])
    O, l, m = 0, 0, np.full((B, H, Nq, 1), -np.inf, np.float32)
    for j in range(0, S.shape[-1], tile):
        s = S[..., j:j + tile]
        new = np.maximum(m, s.max(-1, keepdims=True))
        with np.errstate(invalid="ignore"):
            P, factor = np.nan_to_num(np.exp(s - new)), np.nan_to_num(np.exp(m - new))
        l = l * (1 if mistake in ("no rescaling", "l not rescaled") else factor) + P.sum(-1, keepdims=True)
        if dropout:
            P = P * reference.dropout_keeps(B, H, Nq, Nk, dropout, 0)[..., j:j + tile] / (1 if mistake == "dropout" else 1 - dropout)
        O = O * (1 if mistake in ("no rescaling", "O not rescaled") else factor) + P.astype(half).astype(np.float32) @ v[..., j:j + tile, :]
        m = new
    O, lse = O / np.where(l == 0, 1, l), (m + np.log(np.where(l == 0, 1, l)))[..., 0]
    if mistake in ("exchanged", "stored"):
        O = O.swapaxes(1, 2).reshape(Q.shape)
    return O.astype(half), (lse / np.log(2) if mistake == "base 2" else lse).astype(np.float32)


def halves(**shape):
    return [x.astype(np.float16) for x in problem(**{"B": 1, "d": 16, **shape})]


class Check(Case):
    def wrong(self, words, *arrays, **options):
        with self.assertRaises(AssertionError) as caught:
            flash.check(*arrays, **options)
        self.assertIn(words, str(caught.exception))
        return str(caught.exception)

    def test_the_cause_of_a_wrong_kernel_is_named(self):
        Q, K, V, _ = halves()
        window, alignment = {"window": (12, 3)}, {"causal": "top-left"}
        for words, mistake, options, made in (
                ("lse is a logarithm of base 2", "base 2", {}, {}),
                ("the mask is aligned top-left, not bottom-right", "", {"causal": True}, alignment),
                ("no causal mask", "", {"causal": True}, {}),
                ("a causal mask, aligned top-left", "", {}, alignment),
                ("the window is 13,3, not 12,3", "", window, {"window": (13, 3)}),
                ("the window's left and right are swapped", "", window, {"window": (3, 12)}),
                ("no scale", "no scale", {}, {}),
                ("the scale is applied twice", "scale twice", {}, {}),
                ("2^S in place of e^S", "", {}, {"scale": np.log(2) / 4}),
                ("the arrays are read as (B, N, H, d)", "exchanged", {}, {}),
                ("it is stored as (B, N, H, d)", "stored", {}, {}),
                ("h mod 2, not h / 2", "modulo", {}, {}),
                ("dropout does not divide", "dropout", {"dropout": 0.2}, {"dropout": 0.2}),
                ("masked keys have the score -2", "softcap after mask", {"softcap": 2.0, "causal": True}, {"softcap": 2.0, "causal": True}),
                ("no softcap", "", {"softcap": 2.0}, {}),
                ("keys 75 to 95, the last tile's padding, have the score 0", "padding", {}, {}),
                ("O and l are not rescaled when a tile of 16 keys", "no rescaling", {}, {}),
                ("explains it: O is not rescaled when a tile of 16 keys", "O not rescaled", {}, {}),
                ("explains it: l is not rescaled when a tile of 16 keys", "l not rescaled", {}, {})):
            O, lse = kernel(Q, K, V, mistake, **made)
            with self.subTest(words):
                said = self.wrong("the mistake that explains it", Q, K, V, O, lse=lse, **options)
                self.assertIn(words, said)
                self.assertIn("judged as float16", said)
                self.assertNotIn("first wrong", said)
                right = {**made, **options}
                flash.check(Q, K, V, *kernel(Q, K, V, **right)[:1], **right)

    def test_the_causes_of_wrong_gradients_are_named(self):
        Q, K, V, dO = halves()
        for options, made, factors in (({"causal": True}, {"causal": True}, (1, 1, 1)), ({}, {}, (4, 4, 1)), ({"causal": True}, {"causal": "top-left"}, (1, 1, 1)),
                                       ({"dropout": 0.2}, {"dropout": 0.2}, (0.8, 0.8, 0.8))):
            gradients = reference.Attention(Q, K, V, **made).gradients(dO)
            for name, gradient, factor in zip(("dQ", "dK", "dV"), gradients, factors):
                arrays = {"dO": dO, name: (factor * gradient).astype(np.float16)}
                if factor == 1 and made == options:
                    flash.check(Q, K, V, **arrays, **options)
                else:
                    words = "the scale is missing in the gradient" if factor == 4 else "aligned top-left" if factor == 1 else "dropout does not divide"
                    self.wrong(words, Q, K, V, **arrays, **options)

    def test_the_place_of_another_mistake_is_named(self):
        Q, K, V, _ = problem()
        O = reference.Attention(Q, K, V).O.astype(np.float32)
        O[1, 2, 32:48, 16:] *= 1.1
        self.wrong("first wrong at b, h, i, c = 1, 2, 32, 16: 1 of 8 heads; in its head 16 of 53 rows, 32 to 47 (a tile of 32 begins at 32), "
                   "8 of 24 columns, 16 to 23 (a tile of 16 begins at 16)", Q, K, V, O)
        O[0, 0, 0, 0] = np.nan
        self.wrong("elements that differ in NaN or infinity, or were not written: 1", Q, K, V, O)
        self.assertNotIn("judged", self.wrong("mismatch", Q, K, V, np.nan * O))

    def test_right_kernels_are_right_on_all_cases(self):
        for dtype, half in (("f32", np.float32), ("f16", np.float16)):
            for name, Q, K, V, options in flash.cases(dtype, B=1, H=2, Hkv=1, d=16):
                with self.subTest(name, dtype=dtype):
                    said = flash.check(Q, K, V, kernel(Q, K, V, half=half, **options)[0], **options)
                    self.assertEqual("judged as float16" in said, dtype == "f16", said)

    def test_arrays_of_other_libraries_are_taken(self):
        class Other:
            """An array that has DLPack alone."""
            def __init__(self, x):
                self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__

        Q, K, V, _ = halves()
        arrays = Q, K, V, kernel(Q, K, V)[0]
        said = flash.check(*arrays)
        turned = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in arrays]
        self.assertEqual(flash.check(*map(Other, arrays)), said)
        self.assertEqual(flash.check(*map(memoryview, arrays)), said)
        self.assertEqual(flash.check(*turned, layout="BNHD"), said)
        _, Q, K, V, _ = next(flash.cases("bf16", d=16))
        upper = [(x.view(np.uint32) >> 16).astype(np.uint16).view("V2") for x in (Q, K, V)]
        self.assertIn("judged as bfloat16: q, k, v and o", flash.check(*upper, upper[2].repeat(2, 1)))
        for message, kind, options in (("layout='BNHD' is for arrays", ValueError, {}), ("is_causal: expected causal=\"top-left\"", TypeError, {"is_causal": True}),
                                       ("attn_mask: expected key_mask=", TypeError, {"attn_mask": None}), ("layout: expected", ValueError, {"layout": "NHD"})):
            with self.assertRaisesRegex(kind, message):
                flash.check(*turned, **options)
