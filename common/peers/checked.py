"""The problem that a GPU's ladders check, and an output's error: inputs (normal numbers of seed 1), rows and reference in double
precision as in common/check/attention_check.c and gradient_check.c. common/python/test_peers.py compares it with programs.
"""
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from reference import philox  # noqa: E402

SEED, KEY, ALL = 1, 0x636F75727365, 4e9  # common/problem/attention.c; above ALL multiply-adds only some rows are checked
CHUNK = 512


def words(seed, stream, index, attempt):
    counter = [index & 0xFFFFFFFF, index >> 32, np.full_like(index, attempt), np.full_like(index, stream)]
    return philox(counter, seed ^ KEY)


def logarithm(x):
    """As in attention.c: + - * / give the same bits on every machine."""
    m, e = np.frexp(x)
    low = m < 0.70710678118654752
    m, e = np.where(low, 2 * m, m), e - low
    z = (m - 1) / (m + 1)
    total = np.zeros_like(z)
    for k in range(21, 0, -2):
        total = total * z * z + 1.0 / k
    return e * 0.69314718055994531 + 2.0 * z * total


@lru_cache(maxsize=None)
def made(stream):
    return [np.empty(0, np.float32)]


def normals(stream, count):
    """Cached: a longer array begins with the same numbers."""
    kept = made(stream)
    if len(kept[0]) < count:
        x, left, attempt = np.empty(count, np.float32), np.arange(count, dtype=np.uint64), 1
        while len(left):
            w = words(SEED, stream, left, attempt)
            u, v = (w[k].astype(np.float64) * 2.0**-31 - 1 for k in (0, 1))
            s = u * u + v * v
            inside = (s > 0) & (s < 1)
            u, s = u[inside], s[inside]
            x[left[inside]] = u * np.sqrt(-2.0 * logarithm(s) / s)
            left, attempt = left[~inside], attempt + 1
        kept[0] = x
    return kept[0][:count]


def rounded(x, kind):
    """To bf16, ties to even, and back."""
    if kind == "f32":
        return x
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def problem(kind, heads, n, d):
    """Q, K, V and dO, each (heads, N, d)."""
    return [rounded(normals(stream, heads * n * d), kind).reshape(heads, n, d) for stream in range(4)]


def drawn(seed, stream, index, below):
    """Random integers in [0, below)."""
    return (words(seed, stream, index.astype(np.uint64), 0)[0].astype(np.float64) * 2.0**-32 * below).astype(np.int64)


def chosen(heads, n, count):
    """Each head's first row, then last, then a random one, which may repeat."""
    k = np.arange(min(count, heads * n))
    if len(k) == heads * n:
        return k
    return np.sort(k % heads * n + np.choose(np.minimum(k // heads, 2), [0, n - 1, drawn(20, 9, k, n)]))


def count_of(heads, n, of_row):
    """The number of these rows, at `of_row` multiply-adds per row."""
    if of_row * heads * n <= ALL:
        return heads * n
    return max(min(3 * heads, int(0.1 * ALL / of_row)), 64)


def weights(Q, K, rows, causal):
    """P of some rows of a head, in double."""
    S = Q[rows].astype(np.float64) @ K.astype(np.float64).T / np.sqrt(np.float64(Q.shape[1]))
    if causal:
        S[np.arange(len(K))[None, :] > rows[:, None]] = -np.inf
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def largest(differences):
    """NaN stays NaN."""
    return float(np.max([np.max(np.abs(x)) for x in differences if x.size]))


def error_of_output(inputs, causal, O):
    Q, K, V, _ = inputs
    heads, n, d = Q.shape
    rows = chosen(heads, n, count_of(heads, n, 2.0 * n * d))
    differences = []
    for head in range(heads):
        own = rows[rows // n == head] % n
        for part in np.split(own, range(CHUNK, len(own), CHUNK)):
            differences.append(O[head][part] - weights(Q[head], K[head], part, causal) @ V[head].astype(np.float64))
    return largest(differences)


def error_of_gradients(inputs, causal, dQ, dK, dV):
    """Of one head; each is (1, N, d)."""
    Q, K, V, dO = (x[0].astype(np.float64) for x in inputs)
    n, d = Q.shape
    rows, scale = chosen(1, n, count_of(1, n, 5.0 * n * d)), 1 / np.sqrt(np.float64(d))
    keys = rows if len(rows) == n else chosen(1, n, 16)
    right_dK, right_dV, differences = np.zeros((len(keys), d)), np.zeros((len(keys), d)), []
    for i in np.split(np.arange(n), range(CHUNK, n, CHUNK)):
        P = weights(Q, K, i, causal)
        D = (dO[i] * (P @ V)).sum(axis=1, keepdims=True)
        right_dV += P[:, keys].T @ dO[i]
        right_dK += scale * (P[:, keys] * (dO[i] @ V[keys].T - D)).T @ Q[i]
        own = rows[(rows >= i[0]) & (rows <= i[-1])]
        at = own - i[0]
        dS = P[at] * (dO[own] @ V.T - D[at])
        differences.append(dQ[0][own] - scale * dS @ K)
    return largest(differences + [dK[0][keys] - right_dK, dV[0][keys] - right_dV])
