"""Trains a small model with a step's gradients and, where PyTorch is installed, with PyTorch's.

    python common/python/learn.py [--step 07/fa2]

A text has each of 16 letters once, in any order, with a digit each. For each letter the model has to find its digit.
The letters and digits become rows of K, V and Q by tables, and O becomes a score for each digit by another: all four
tables begin with random numbers, and learn.
"""
from __future__ import annotations

import argparse
import functools
import importlib.util
from typing import Iterator

import numpy as np

import flash

LETTERS, DIGITS, D, TEXTS, STEPS, RATE = 16, 10, 16, 64, 100, 1.0
SHAPES = {"queries": (LETTERS, D), "keys": (LETTERS, D), "values": (DIGITS, D), "scores": (D, DIGITS)}


def texts(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Letters and their digits, and the letters that are asked for, with the right answers: (TEXTS, LETTERS) each."""
    letters, asked = (random.permuted(np.tile(np.arange(LETTERS), (TEXTS, 1)), axis=1) for _ in range(2))
    digits = random.integers(DIGITS, size=letters.shape)
    return letters, digits, asked, np.take_along_axis(digits, np.argsort(letters, axis=1), 1)[np.arange(TEXTS)[:, None], asked]


def ours(table: dict[str, np.ndarray], text, step: str) -> tuple[float, float, dict[str, np.ndarray]]:
    """The loss, the share of right answers, and the gradient of each table."""
    letters, digits, asked, right = text
    Q, K, V = (table[name][which][:, None] for name, which in (("queries", asked), ("keys", letters), ("values", digits)))
    S = Q @ K.swapaxes(-1, -2) / np.float32(np.sqrt(D))
    lse = np.log(np.exp(S - S.max(-1, keepdims=True)).sum(-1)) + S.max(-1)
    O = np.exp(S - lse[..., None]) @ V
    scores = O[:, 0] @ table["scores"]
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    of_right = np.take_along_axis(p, right[..., None], -1)
    d_scores = (p - np.eye(DIGITS, dtype=np.float32)[right]) / right.size
    dO = (d_scores @ table["scores"].T)[:, None]
    gradient = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    gradient["scores"] = np.einsum("tid,tic->dc", O[:, 0], d_scores)
    for name, which, rows in zip(("queries", "keys", "values"), (asked, letters, digits),
                                 flash.backward(Q, K, V, O, lse, dO, step=step)):
        np.add.at(gradient[name], which, rows[:, 0])
    return -np.log(of_right).mean(), (p.argmax(-1) == right).mean(), gradient


def pytorchs(table: dict[str, np.ndarray], text) -> tuple[float, float, dict[str, np.ndarray]]:
    """The same by PyTorch alone."""
    import torch
    letters, digits, asked, right = map(torch.from_numpy, text)
    t = {name: torch.tensor(x, requires_grad=True) for name, x in table.items()}
    O = torch.nn.functional.scaled_dot_product_attention(t["queries"][asked], t["keys"][letters], t["values"][digits])
    scores = O @ t["scores"]
    loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), right.flatten())
    loss.backward()
    share = (scores.argmax(-1) == right).double().mean()
    return loss.item(), share.item(), {name: x.grad.numpy() for name, x in t.items()}


def descent(gradients) -> Iterator[tuple[float, float]]:
    """The loss and the share of right answers after 0 … STEPS steps."""
    random = np.random.default_rng(1)
    table = {name: random.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
    for _ in range(STEPS + 1):
        loss, share, gradient = gradients(table, texts(random))
        yield loss, share
        table = {name: x - RATE * gradient[name] for name, x in table.items()}


def main():
    options = argparse.ArgumentParser(description="A small model learns by a step's gradients.")
    options.add_argument("--step", default="07/fa2", metavar="STEP", help="which step computes dQ, dK and dV")
    step = options.parse_args().step
    backward = [s.name for s in flash.steps().values() if s.backward]
    if step not in backward:
        options.error(f"--step: expected one of {', '.join(backward)}, found '{step}'")
    columns = {step: functools.partial(ours, step=step)}
    if importlib.util.find_spec("torch"):
        columns["PyTorch"] = pytorchs
    print(f"{'':18}loss, gradients of\n{'step':>6}{'right':>8}", *(f"{name:>13}" for name in columns))
    for n, now in enumerate(zip(*map(descent, columns.values()))):
        if n % (STEPS // 10) == 0:
            loss, share = now[0]
            print(f"{n:6}{share:8.0%}", *(f"{loss:13.6f}" for loss, _ in now), f" {'█' * round(10 * loss)}".rstrip())


if __name__ == "__main__":
    main()
