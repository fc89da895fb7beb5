"""Writes the golden files of common/tests/golden.h: attention as PyTorch computes it.

    python3 common/tests/golden/make_golden.py

The repository's files are from PyTorch 2.15.0 and NumPy 2.4.6 on x86-64; others may change the last bits, within the
tests' tolerance. Only changing the cases needs this script.

Forward is float64 operations, gradients are autograd's, and masks follow their definition, score by score: no code is
shared with C.

A file is one float64 vector: q, k, v, do, [key mask], [block mask], o, lse, dq, dk, dv, flattened. Inputs are float32
numbers. golden.c repeats the table of cases.
"""

import math
import os

import numpy as np
import torch

NONE, CAUSAL, TOP_LEFT, CAUSAL_TOP_LEFT = "none", "causal", "top left", "causal, top left"

# name, (B, H, Hkv, Nq, Nk, d), scale, alignment, window (left, right), key mask,
# the block mask's (R, C), dropout (probability, seed), and the softcap if there is one
CASES = [
    ("plain", (2, 3, 3, 7, 7, 5), None, NONE, (-1, -1), False, None, None),
    ("negative_scale", (1, 2, 2, 6, 9, 3), -0.7, NONE, (-1, -1), False, None, None),
    ("zero_scale", (1, 1, 1, 5, 6, 3), 0.0, NONE, (-1, -1), False, None, None),
    ("causal_fewer_queries", (1, 2, 2, 5, 11, 3), None, CAUSAL, (-1, -1), False, None, None),
    ("causal_more_queries", (2, 1, 1, 11, 6, 5), None, CAUSAL, (-1, -1), False, None, None),
    ("top_left_fewer_queries", (1, 3, 3, 6, 9, 7), None, CAUSAL_TOP_LEFT, (-1, -1), False, None,
     None),
    ("top_left_more_queries", (1, 1, 1, 10, 6, 3), None, CAUSAL_TOP_LEFT, (-1, -1), False, None,
     None),
    ("window", (1, 2, 2, 9, 13, 3), None, NONE, (3, 2), False, None, None),
    ("window_left_causal", (1, 2, 2, 13, 9, 5), None, CAUSAL, (2, 3), False, None, None),
    ("window_right_top_left", (1, 1, 1, 10, 7, 3), None, TOP_LEFT, (-1, 1), False, None, None),
    ("key_mask", (3, 2, 2, 6, 10, 3), None, NONE, (-1, -1), True, None, None),
    ("grouped_heads", (1, 6, 2, 5, 7, 3), None, NONE, (-1, -1), False, None, None),
    ("block_mask", (1, 2, 2, 11, 13, 3), None, NONE, (-1, -1), False, (3, 5), None),
    ("dropout", (2, 3, 3, 7, 9, 5), None, NONE, (-1, -1), False, None, (0.3, 0x9E3779B97F4A7C15)),
    ("everything", (2, 6, 3, 11, 14, 5), 0.3, CAUSAL, (9, 0), True, (3, 5), (0.2, 7)),
    ("softcap", (1, 4, 4, 6, 9, 5), None, NONE, (-1, -1), False, None, None, 0.75),
    ("softcap_everything", (2, 6, 3, 11, 14, 5), -0.9, CAUSAL, (9, 0), True, (3, 5), (0.2, 7), 1.5),
]


def philox4x32(counter, key):
    """Philox 4x32-10 by Salmon et al.: four words of counter and two of key."""
    word = 0xFFFFFFFF
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) & word, (k1 + 0xBB67AE85) & word
    return c0, c1, c2, c3


def check_philox():
    ones = 0xFFFFFFFF
    assert philox4x32((0,) * 4, (0,) * 2) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox4x32((ones,) * 4, (ones,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert philox4x32(
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    ) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


def seen(case, key_mask, block_mask):
    """(B, Nq, Nk): does the query attend to the key?"""
    _, (B, _, _, Nq, Nk, _), _, alignment, (left, right), _, blocks, *_ = case
    offset = 0 if "top left" in alignment else Nk - Nq
    answer = np.ones((B, Nq, Nk), dtype=bool)
    for b, i, j in np.ndindex(B, Nq, Nk):
        place = i + offset
        if "causal" in alignment and not j <= place:
            answer[b, i, j] = False
        if left != -1 and not place - left <= j:
            answer[b, i, j] = False
        if right != -1 and not j <= place + right:
            answer[b, i, j] = False
        if key_mask is not None and not key_mask[b, j]:
            answer[b, i, j] = False
        if block_mask is not None and not block_mask[i // blocks[0], j // blocks[1]]:
            answer[b, i, j] = False
    return answer


def kept(shape, probability, seed):
    """(B, H, Nq, Nk): does dropout keep the weight?"""
    B, H, _, Nq, Nk, _ = shape
    threshold = math.ceil(probability * 2**24)
    answer = np.empty((B, H, Nq, Nk), dtype=bool)
    for b, h, i, j in np.ndindex(B, H, Nq, Nk):
        words = philox4x32((j // 4, i, h, b), (seed & 0xFFFFFFFF, seed >> 32))
        answer[b, h, i, j] = words[j % 4] >> 8 >= threshold
    return answer


def masks(case, random):
    """The key mask (all masked in the middle of three batch entries) and the block mask (second row of blocks all
    masked); None where the case has none.
    """
    _, (B, _, _, Nq, Nk, _), _, _, _, has_key_mask, blocks, *_ = case
    key_mask = block_mask = None
    if has_key_mask:
        key_mask = random.random_sample((B, Nk)) < 0.75
        if B == 3:
            key_mask[1] = False
    if blocks:
        block_mask = random.random_sample((-(-Nq // blocks[0]), -(-Nk // blocks[1]))) < 0.7
        block_mask[1] = False
    return key_mask, block_mask


def attention(case, q, k, v, visible):
    """o and lse. A query without keys has o = 0 and lse = -inf, and no gradient."""
    _, shape, scale, _, _, _, _, dropout, *softcap = case
    _, H, Hkv, _, _, d = shape
    scale = float(np.float32(1.0 / math.sqrt(d) if scale is None else scale))
    group = torch.arange(H) // (H // Hkv)  # the key/value head of each query head
    s = scale * torch.matmul(q, k[:, group].transpose(-1, -2))
    if softcap:
        s = softcap[0] * torch.tanh(s / softcap[0])
    s = s.masked_fill(~torch.from_numpy(visible)[:, None], -math.inf)
    empty = torch.isneginf(s).all(-1, keepdim=True)
    m = torch.where(empty, 0.0, s.amax(-1, keepdim=True)).detach()
    e = torch.exp(s - m)
    l = torch.where(empty, 1.0, e.sum(-1, keepdim=True))
    p = e / l
    if dropout:
        p = p * torch.from_numpy(kept(shape, *dropout)) / (1.0 - dropout[0])
    lse = torch.where(empty, -math.inf, m + torch.log(l))
    return torch.matmul(p, v[:, group]), lse


def vector(case, number):
    _, (B, H, Hkv, Nq, Nk, d), *_ = case
    random = np.random.RandomState(1000 + number)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32).astype(np.float64)

    q, k, v, do = [normal(B, h, n, d) for h, n in ((H, Nq), (Hkv, Nk), (Hkv, Nk), (H, Nq))]
    key_mask, block_mask = masks(case, random)
    inputs = [torch.tensor(x, requires_grad=True) for x in (q, k, v)]
    o, lse = attention(case, *inputs, seen(case, key_mask, block_mask))
    gradients = torch.autograd.grad((torch.from_numpy(do) * o).sum(), inputs)
    outputs = [x.detach().numpy() for x in (o, lse, *gradients)]
    assert not any(np.isnan(x).any() for x in outputs)
    parts = [q, k, v, do, key_mask, block_mask, *outputs]
    return np.concatenate([x.ravel().astype("<f8") for x in parts if x is not None])


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    check_philox()
    folder = os.path.dirname(os.path.abspath(__file__))
    for number, case in enumerate(CASES):
        np.save(os.path.join(folder, case[0] + ".npy"), vector(case, number))
