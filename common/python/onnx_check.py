"""Runs the test cases of the package onnx for its operator Attention with a step of the course.

Our steps have no mask per pair, no bias and no cache. So each batch entry and head of a case is a run of its own, and
ADAPTERS describes how its inputs are converted. Only Y is compared: the operator's other outputs are its inputs
concatenated (present_key, present_value), or what flash attention never stores (qk_matmul_output).
"""
from __future__ import annotations

import sys
import warnings

import numpy as np

import flash

ADAPTERS = {
    "heads": "(B, N, H d) is taken apart into heads; a batch entry and a head is a run",
    "cache": "past keys and values come before the new ones",
    "mask": "masks, causal order and windows from a case's own first key are a block mask of 1 by 1 blocks",
    "bias": "a finite mask is Nk more columns: of Q its row, divided by the scale, of K the unit matrix",
    "values": "short rows are padded with zeros: of V up to d, or of Q and K up to V's",
    "16 bits": "float16 and bfloat16 are converted, and Y is rounded to the type of the case",
}
STEP = "05/complete"
# Not by the verdict: Y itself was rounded, in float16 after each operation of the formula.
ALLOWED = {"float32": 5e-7, "float16": 2.0**-10, "bfloat16": 2.0**-7}  # 16 bits: of the largest |Y|, one or two roundings


def cases() -> list:
    """Without models that expand the operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        return [case for case in collect_testcases("Attention") if "expanded" not in case.name]


class Case:
    """By head, with masks and biases."""

    def __init__(self, case, wrong: str = ""):
        from onnx import helper
        node = case.model.graph.node[0]
        inputs, outputs = case.data_sets[0]
        given = dict(zip([name for name in node.input if name], inputs))
        at = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.Y, self.used, self.wrong = np.asarray(outputs[0]), set(), wrong
        names = [n for n, name in zip(("Q", "K", "V", "mask", "past_key", "past_value", "nonpad"), node.input) if name]
        x = dict(zip(names, given.values()))
        if x["Q"].dtype != np.float32:
            self.used.add("16 bits")
        self.three = x["Q"].ndim == 3
        if self.three:
            self.used.add("heads")
        heads = at.get("q_num_heads"), at.get("kv_num_heads"), at.get("kv_num_heads")
        self.Q, self.K, self.V = (self.by_head(np.asarray(x[n], np.float32), H) for n, H in zip("QKV", heads))
        self.scale = at.get("scale", 1 / np.sqrt(self.Q.shape[-1]))
        self.softcap = at.get("softcap", 0.0)
        Nq = self.Q.shape[2]
        offset = np.zeros(self.Q.shape[0], int)
        if "past_key" in x:
            self.used.add("cache")
            offset += x["past_key"].shape[2]
            self.K, self.V = (np.concatenate([np.asarray(x[n], np.float32), new], 2)
                              for n, new in (("past_key", self.K), ("past_value", self.V)))
        elif "nonpad" in x:
            offset = x["nonpad"] - Nq
        self.bias = self.mask(x.get("mask"), x.get("nonpad"), offset, at)

    def by_head(self, x, H):
        return x.reshape(*x.shape[:2], H, -1).swapaxes(1, 2) if self.three else x

    def mask(self, mask, nonpad, offset, at) -> np.ndarray:
        """(B, H, Nq, Nk): added to the scores; -inf masks."""
        (B, H, Nq, _), Nk = self.Q.shape, self.K.shape[2]
        bias = np.zeros((B, H, Nq, Nk), np.float32)
        if mask is not None:
            if mask.dtype == bool:
                mask = np.where(mask, 0, -np.inf)
            mask = np.asarray(mask, np.float32)
            missing = [(0, 0)] * (mask.ndim - 1) + [(0, Nk - mask.shape[-1])]
            bias = bias + np.pad(mask, missing, constant_values=-np.inf)
        place = np.arange(Nq)[:, None] + offset[:, None, None, None] + (self.wrong == "offset")
        j = np.arange(Nk)
        hidden = np.zeros((B, 1, Nq, Nk), bool)
        if at.get("is_causal"):
            hidden |= j > place
        if at.get("left_window_size", -1) >= 0:
            hidden |= j < place - at["left_window_size"]
        if at.get("right_window_size", -1) >= 0:
            hidden |= j > place + at["right_window_size"]
        if nonpad is not None:
            hidden |= j >= nonpad[:, None, None, None]
        return np.where(hidden, -np.inf, bias).astype(np.float32)

    def unsupported(self) -> str | None:
        """Why no adapter can run the case."""
        finite = self.bias[np.isfinite(self.bias)]
        if self.softcap and finite.any():
            return "a bias after softcap: columns of Q and K come before it"
        return None

    def head(self, b: int, h: int) -> np.ndarray:
        """The head's rows of Y."""
        group = self.Q.shape[1] // self.K.shape[1]
        Q, K, V, bias = self.Q[b, h], self.K[b, h // group], self.V[b, h // group], self.bias[b, h]
        options, seen = {"scale": self.scale, "softcap": self.softcap}, ~np.isneginf(bias)
        if not seen.all():
            self.used.add("mask")
            options |= {"block_mask": seen, "mask_block": (1, 1)}
        added = np.where(seen, bias, 0)
        if added.any():
            self.used.add("bias")
            Q = np.concatenate([Q, added / (1 if self.wrong == "bias" else self.scale)], 1)
            K = np.concatenate([K, np.eye(len(K))], 1)
        d, width = max(Q.shape[1], V.shape[1]), V.shape[1]
        if Q.shape[1] != width:
            self.used.add("values")
        Q, K, V = (np.pad(x, ((0, 0), (0, d - x.shape[1]))).astype(np.float32) for x in (Q, K, V))
        return flash.forward(Q, K, V, step=STEP, threads=1, **options)[0][:, :width]

    def output(self) -> np.ndarray:
        B, H = self.Q.shape[:2]
        Y = np.array([[self.head(b, h) for h in range(H)] for b in range(B)])
        return (Y.swapaxes(1, 2).reshape(*self.Y.shape) if self.three else Y).astype(self.Y.dtype)

    def error(self) -> tuple[float, float]:
        """The largest error, and the tolerance; NaN exceeds it."""
        right, got = (np.asarray(y, np.float64) for y in (self.Y, self.output()))
        kind = str(self.Y.dtype)
        return float(np.abs(got - right).max()), ALLOWED[kind] * (1 if kind == "float32" else np.abs(right).max())


def main() -> int:
    import onnx
    every, right, bad, largest, used = cases(), 0, [], {}, {}
    left_out = {}
    for case in every:
        adapted = Case(case)
        reason = adapted.unsupported()
        if reason:
            left_out.setdefault(reason, []).append(case.name)
            continue
        error, allowed = adapted.error()
        kind = str(adapted.Y.dtype)
        largest[kind] = max(largest.get(kind, 0.0), error)
        for name in adapted.used:
            used[name] = used.get(name, 0) + 1
        if error <= allowed:
            right += 1
        else:
            bad.append(f"{case.name}: off by {error:.3g}, allowed {allowed:.3g}")
    print(f"onnx {onnx.__version__}, operator Attention, by {STEP}: {right} of {len(every)} cases are right")
    for kind, error in largest.items():
        print(f"  {kind:9} largest error {error:.2g}")
    print("  adapters:")
    for name, what in ADAPTERS.items():
        print(f"  {used.get(name, 0):4}  {name}: {what}")
    for reason, names in left_out.items():
        print(f"  {len(names):4}  not run: {reason}: {', '.join(names)}")
    for line in bad:
        print(f"  WRONG {line}")
    for wrong in ("offset", "bias"):  # the check must fail with mistakes
        some = [Case(case, wrong) for case in every]
        fail = sum(not c.error()[0] <= c.error()[1] for c in some if not c.unsupported())
        print(f"  with a wrong {wrong}: {fail} are wrong, as they have to be")
        bad += [] if fail > 5 else [f"a wrong {wrong} makes only {fail} wrong"]
    return 1 if bad or right + sum(map(len, left_out.values())) != len(every) else 0


if __name__ == "__main__":
    sys.exit(main())
