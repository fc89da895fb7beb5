"""Every step's values and gradients, and PyTorch's, by the course's verdict (common/check/tolerance.h).

Errors are in units of what rounding explains; over 1 is wrong. Where PyTorch is not there, NumPy judges the reference in C.
"""
from __future__ import annotations

import sys

import numpy as np

import flash
import reference

try:
    import torch
    import flash_torch
except ImportError:
    torch = None

CASES = {
    "plain": {},
    "scale": {"scale": 0.3},
    "causal": {"causal": "top-left"},
    "bottom-right": {"causal": "bottom-right"},
    "window": {"window": (30, 4)},
    "key mask": {"key_mask": True},
    "block mask": {"block_mask": True, "mask_block": (32, 16)},
    "grouped heads": {"Hkv": 2},
    "softcap": {"softcap": 2.0, "scale": 0.3},
    "softcap, causal": {"softcap": 30.0, "causal": "top-left", "Hkv": 2},
    "dropout": {"dropout": 0.2, "dropout_seed": 17},
    "all": {"causal": "bottom-right", "window": (60, -1), "key_mask": True, "block_mask": True,
            "mask_block": (16, 64), "Hkv": 1, "scale": 0.2, "dropout": 0.1, "dropout_seed": 3},
}
B, H, NQ, NK, D = SHAPE = 2, 4, 100, 129, 64
# (B, H, Nq, Nk, d), Hkv, options: from these test suites
SHAPES = {
    "PyTorch's tests of SDPA": [
        ((1, 4, 4, 4, 8), 4, {}), ((8, 4, 4, 2048, 16), 4, {}), ((1, 4, 8, 64, 72), 4, {"causal": "top-left"}),
        ((8, 4, 64, 8, 32), 4, {"scale": 1 / 32}), ((1, 4, 128, 128, 96), 4, {"causal": "top-left"}),
        ((1, 4, 256, 512, 64), 4, {}), ((1, 4, 512, 256, 128), 4, {"causal": "top-left"}), ((1, 4, 2048, 4, 8), 4, {}),
    ],
    "ggml's test-backend-ops": [
        ((1, 4, 1, 113, 40), 4, {}), ((1, 4, 3, 512, 64), 4, {"softcap": 10.0}), ((1, 16, 32, 113, 72), 4, {"key_mask": True}),
        ((1, 4, 75, 512, 80), 4, {"softcap": 10.0, "key_mask": True}), ((3, 16, 3, 113, 96), 4, {}),
        ((1, 16, 32, 1024, 128), 4, {"softcap": 10.0}), ((1, 4, 1, 1024, 192), 4, {}), ((1, 16, 75, 113, 256), 4, {"key_mask": True}),
    ],
}


def problem(case: dict, shape=SHAPE) -> tuple[list[np.ndarray], dict]:
    numbers, options, (B, H, NQ, NK, D) = np.random.default_rng(5), dict(case), shape
    Hkv = options.pop("Hkv", H)
    shapes = (B, H, NQ, D), (B, Hkv, NK, D), (B, Hkv, NK, D), (B, H, NQ, D)
    arrays = [numbers.standard_normal(shape).astype(np.float32) for shape in shapes]
    if "key_mask" in options:
        options["key_mask"] = numbers.random((B, NK)) < 0.8
    if "block_mask" in options:
        rows, cols = options["mask_block"]
        options["block_mask"] = numbers.random((-(-NQ // rows), -(-NK // cols))) < 0.7
    return arrays, options


def with_softcap(q, k, v, seen, scale: float | None, C: float):
    """PyTorch has softcap only in FlexAttention, without gradients on a CPU."""
    s = q @ k.transpose(-1, -2) * (scale if scale is not None else q.shape[-1]**-0.5)
    return torch.softmax((C * torch.tanh(s / C)).masked_fill(~seen, -torch.inf), -1) @ v


def in_numpy(arrays, options) -> list[np.ndarray]:
    attention = reference.Attention(*arrays[:3], **options)
    return [x.astype(np.float32) for x in (attention.O, *attention.gradients(arrays[3]))]


def pytorch(arrays, options) -> list[np.ndarray]:
    q, k, v = (torch.from_numpy(x).clone().requires_grad_() for x in arrays[:3])
    masks = {name: options[name] for name in ("causal", "window", "key_mask", "block_mask", "mask_block")
             if name in options}
    seen = torch.from_numpy(reference.visible(q.shape[0], q.shape[2], k.shape[2], **masks))
    group = q.shape[1] // k.shape[1]
    wide = q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    if "softcap" in options:
        O = with_softcap(*wide, seen, options.get("scale"), options["softcap"])
    else:
        O = torch.nn.functional.scaled_dot_product_attention(
            *wide, attn_mask=seen if masks else None, scale=options.get("scale"))
    O.backward(torch.from_numpy(arrays[3]))
    return [x.detach().numpy() for x in (O, q.grad, k.grad, v.grad)]


def through_autograd(arrays, options, step, backward) -> list[np.ndarray]:
    q, k, v = (torch.from_numpy(x).clone().requires_grad_() for x in arrays[:3])
    O = flash_torch.attention(q, k, v, step=step, backward=backward, **options)
    O.backward(torch.from_numpy(arrays[3]))
    return [x.detach().numpy() for x in (O, q.grad, k.grad, v.grad)]


def course(arrays, options, step, backward) -> list[np.ndarray] | None:
    """None if a step does not support an option."""
    try:
        if torch is not None:
            return through_autograd(arrays, options, step, backward)
        *inputs, dO = arrays
        O, lse = flash.forward(*inputs, step=step, **options)
        return [O, *flash.backward(*inputs, O, lse, dO, step=backward, **options)]
    except ValueError as error:
        if "what this step supports" not in str(error):
            raise
        return None


def explained(arrays, options, results) -> dict[str, float]:
    *inputs, dO = arrays
    return flash.explained(*inputs, dO=dO, **dict(zip(("O", "dQ", "dK", "dV"), results)), **options)


def wrong(what: str, errors: dict[str, float]) -> int:
    """Prints errors over 1; returns their number."""
    bad = {name: x for name, x in errors.items() if not x <= 1}
    for name, x in bad.items():
        print(f"{what}: {name}: off by {x:.3g} times what rounding explains")
    return len(bad)


def main() -> int:
    steps, bad = flash.steps().values(), 0
    pairs = [("05/complete", "07/complete")]
    pairs += [(s.name, "07/complete") for s in steps if s.lse and s.name != "05/complete"]
    pairs += [("05/complete", s.name) for s in steps if s.backward and s.name != "07/complete"]
    print(f"B {B}, H {H}, Nq {NQ}, Nk {NK}, d {D}: the largest errors in units of what rounding explains")
    print(f"against {'PyTorch ' + torch.__version__ if torch else 'NumPy (PyTorch is not there)'}\n")
    print(f"{'options':25}{'O':>8}{'dQ':>8}{'dK':>8}{'dV':>8}   largest difference     steps")
    rows = [(name, SHAPE, case, pairs) for name, case in CASES.items()]
    rows += [(f"{name}: {n + 1}", shape, {"Hkv": Hkv, **options}, pairs[:1] + [("05/softcap", "07/complete")])
             for name, shapes in SHAPES.items() for n, (shape, Hkv, options) in enumerate(shapes)]
    for name, shape, case, pairs in rows:
        arrays, options = problem(case, shape)
        other = "PyTorch" if torch and not options.get("dropout") else "NumPy"  # PyTorch's dropout draws other numbers
        others, worst, away, ran = (pytorch if other == "PyTorch" else in_numpy)(arrays, options), np.zeros(4), 0.0, 0
        bad += wrong(f"{other}, {name}", explained(arrays, options, others))
        for step, backward in pairs:
            got = course(arrays, options, step, backward)
            if got is None:
                continue
            ran += 1
            errors = explained(arrays, options, got)
            bad += wrong(f"{step}, {backward}, {name}", errors)
            worst = np.maximum(worst, list(errors.values()))
            away = max(away, *(float(np.abs(a - b).max()) for a, b in zip(got, others)))
        print(f"{name:25}{''.join(f'{x:8.2f}' for x in worst)}   {away:.2e} from {other:10}{ran}")
    print(f"\n{'all agree' if bad == 0 else f'{bad} disagree'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
