"""Attention and its gradients as the formulas say, in NumPy: what flash.py is held against.

In float64 it is the reference. In float32, with every sum taken in order, it is the textbook computation
whose error says how large an error may be.
"""
from __future__ import annotations

import numpy as np


def philox(counter: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """The four random words of Philox 4x32-10, for arrays of counters (common/problem/random.h)."""
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    x = [np.asarray(word, np.uint64) for word in counter]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(b >> low) ^ x[1] ^ np.uint64(key[0]), b & mask,
             (a >> low) ^ x[3] ^ np.uint64(key[1]), a & mask]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return x


def dropout_keeps(B: int, H: int, Nq: int, Nk: int, P: float, seed: int) -> np.ndarray:
    """Which weights (B, H, Nq, Nk) dropout keeps."""
    b, h, i, j = np.ogrid[:B, :H, :Nq, :Nk]
    words = philox(np.broadcast_arrays(j // 4, i, h, b), seed)
    word = np.choose(np.broadcast_to(j % 4, words[0].shape), words)
    return (word >> np.uint64(8)) >= np.uint64(np.ceil(P * 2**24))


def visible(B: int, Nq: int, Nk: int, causal=False, window=(-1, -1), key_mask=None, block_mask=None,
            mask_block=(64, 64)) -> np.ndarray:
    """Which key each query sees: (B, 1, Nq, Nk)."""
    i, j = np.arange(Nq)[:, None], np.arange(Nk)[None, :]
    place = i + (0 if causal == "top-left" else Nk - Nq)
    seen = np.ones((B, 1, Nq, Nk), bool)
    if causal:
        seen &= j <= place
    if window[0] >= 0:
        seen &= j >= place - window[0]
    if window[1] >= 0:
        seen &= j <= place + window[1]
    if key_mask is not None:
        seen &= np.asarray(key_mask, bool)[:, None, None, :]
    if block_mask is not None:
        seen &= np.asarray(block_mask, bool)[i // mask_block[0], j // mask_block[1]]
    return seen


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B, each sum taken one term after the other."""
    C = np.zeros(np.broadcast_shapes(A.shape[:-2], B.shape[:-2]) + (A.shape[-2], B.shape[-1]), A.dtype)
    for k in range(A.shape[-1]):
        C += A[..., :, k, None] * B[..., None, k, :]
    return C


def T(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


class Attention:
    """S, P, O and lse of (B, H, Nq, d) and (B, Hkv, Nk, d), in the type that is asked for."""

    def __init__(self, Q, K, V, dtype=np.float64, scale=None, softcap=None, dropout=0.0,
                 dropout_seed=0, **masks):
        (B, H, Nq, d), (Hkv, Nk) = Q.shape, K.shape[1:3]
        self.group = H // Hkv
        self.Q, self.K, self.V = (np.asarray(x, dtype) for x in
                                  (Q, np.repeat(K, self.group, 1), np.repeat(V, self.group, 1)))
        self.scale = dtype(np.float32(1 / np.sqrt(d) if scale is None else scale))
        seen = visible(B, Nq, Nk, **masks)
        score, self.slope = self.scale * product(self.Q, T(self.K)), self.scale
        if softcap:
            C = dtype(np.float32(softcap))
            score = C * np.tanh(score / C)
            self.slope = self.scale * (1 - (score / C)**2)
        S = np.where(seen, score, dtype(-np.inf))
        m = S.max(-1, keepdims=True)
        m = np.where(np.isneginf(m), dtype(0), m)
        e = np.exp(S - m)
        l = np.add.accumulate(e, -1)[..., -1:]
        self.P = e / np.where(l == 0, dtype(1), l)
        self.Z = np.ones_like(S)
        if dropout:
            self.Z = dropout_keeps(B, H, Nq, Nk, dropout, dropout_seed) * dtype(1 / (1 - dropout))
        self.O = product(self.P * self.Z, self.V)
        with np.errstate(divide="ignore"):
            self.lse = (m + np.log(l))[..., 0]

    def gradients(self, dO) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dQ, dK and dV."""
        dO = np.asarray(dO, self.O.dtype)
        dV = product(T(self.P * self.Z), dO)
        dP = product(dO, T(self.V)) * self.Z
        D = np.add.accumulate(dO * self.O, -1)[..., -1:]
        d_dot = self.slope * (self.P * (dP - D))
        dQ, dK = product(d_dot, self.K), product(T(d_dot), self.Q)
        B, H, Nk, d = dK.shape
        shape = (B, H // self.group, self.group, Nk, d)
        return dQ, dK.reshape(shape).sum(2), dV.reshape(shape).sum(2)


def disagreement(got, right, plain, gradient: bool) -> str | None:
    """What is wrong with `got`, or None: the course's rule of common/check/tolerance.h."""
    if np.isnan(got).any():
        return f"{np.isnan(got).sum()} elements are NaN"
    finite = np.isfinite(right)
    if not np.array_equal(got[~finite], right[~finite]):
        return "it is not infinite where it should be"
    if not finite.any():
        return None
    error, usual = (np.abs(np.asarray(x, np.float64)[finite] - right[finite]) for x in (got, plain))
    floor = 8 * float(np.spacing(np.float32(np.abs(right[finite]).max())))
    most, most_rms = (6, 3) if gradient else (4, 2)
    rms, usual_rms = np.sqrt(np.mean(error**2)), np.sqrt(np.mean(usual**2))
    if error.max() <= most * usual.max() + floor and rms <= most_rms * usual_rms + floor:
        return None
    return (f"largest error {error.max():.3g}, rms {rms:.3g}; the textbook's {usual.max():.3g} and "
            f"{usual_rms:.3g}")
