"""Attention and its gradients by the formulas, in NumPy and float64, as a test of the C reference."""
from __future__ import annotations

import numpy as np


def philox(counter: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """Four words of Philox 4x32-10, for arrays of counters (common/problem/random.h)."""
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
    """(B, H, Nq, Nk)"""
    b, h, i, j = np.ogrid[:B, :H, :Nq, :Nk]
    words = philox(np.broadcast_arrays(j // 4, i, h, b), seed)
    word = np.choose(np.broadcast_to(j % 4, words[0].shape), words)
    return (word >> np.uint64(8)) >= np.uint64(np.ceil(P * 2**24))


def visible(B: int, Nq: int, Nk: int, causal=False, window=(-1, -1), key_mask=None, block_mask=None,
            mask_block=(64, 64)) -> np.ndarray:
    """(B, 1, Nq, Nk)"""
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


def T(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


class Attention:
    """S, P, O and lse of (B, H, Nq, d) and (B, Hkv, Nk, d)."""

    def __init__(self, Q, K, V, scale=None, softcap=None, dropout=0.0, dropout_seed=0, **masks):
        (B, H, Nq, d), (Hkv, Nk) = Q.shape, K.shape[1:3]
        self.group = H // Hkv
        self.Q, self.K, self.V = (x.astype(np.float64) for x in
                                  (Q, np.repeat(K, self.group, 1), np.repeat(V, self.group, 1)))
        self.scale = np.float64(np.float32(1 / np.sqrt(d) if scale is None else scale))
        seen = visible(B, Nq, Nk, **masks)
        score, self.slope = self.scale * (self.Q @ T(self.K)), self.scale
        if softcap:
            C = np.float64(np.float32(softcap))
            score = C * np.tanh(score / C)
            self.slope = self.scale * (1 - (score / C)**2)
        S = np.where(seen, score, -np.inf)
        m = S.max(-1, keepdims=True)
        m = np.where(np.isneginf(m), 0, m)
        e = np.exp(S - m)
        l = e.sum(-1, keepdims=True)
        self.P = e / np.where(l == 0, 1, l)
        self.Z = dropout_keeps(B, H, Nq, Nk, dropout, dropout_seed) / (1 - dropout) if dropout else 1
        self.O = self.P * self.Z @ self.V
        with np.errstate(divide="ignore"):
            self.lse = (m + np.log(l))[..., 0]

    def gradients(self, dO) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dO = dO.astype(np.float64)
        dV = T(self.P * self.Z) @ dO
        dP = dO @ T(self.V) * self.Z
        D = (dO * self.O).sum(-1, keepdims=True)
        d_dot = self.slope * (self.P * (dP - D))
        dQ, dK = d_dot @ self.K, T(d_dot) @ self.Q
        B, H, Nk, d = dK.shape
        shape = (B, H // self.group, self.group, Nk, d)
        return dQ, dK.reshape(shape).sum(2), dV.reshape(shape).sum(2)
