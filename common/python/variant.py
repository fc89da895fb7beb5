"""Compares a variant of attention with a function of your own: outputs that you saved, or the steps of the course.

    python3 common/python/variant.py REFERENCE.py FOLDER       # o.npy, dq.npy, dk.npy, dv.npy, as check-against takes them
    python3 common/python/variant.py REFERENCE.py softcap=2    # every step that supports these options of flash.py

REFERENCE.py defines attention(q, k, v) on arrays of shape (B, H, N, d), with as many heads of K and V as of Q, and returns O.
We call it once in float64 for the right result, and several times in float32 with inputs changed in their last bit. The
spread of O is sigma, the effect of rounding on each element; an error may be 10 sigma (common/check/tolerance.h).
Gradients are central differences of it, independent of any derivative worked out by hand.
"""
from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np

STEP, SOME = 2.0**-12, 48  # of a difference; elements of each input that are checked, evenly spread
CLOSE = 1e-5  # of the largest gradient: float64 differences are better, float32 gradients are not


def stop(what: str, message: str):
    print(f"variant: {what}: {message}", file=sys.stderr)
    sys.exit(2)


class Reference:
    """The right results for q, k and v."""

    def __init__(self, path: str, q, k, v):
        try:
            self.attention = runpy.run_path(path).get("attention")
        except Exception as error:  # the user's code
            stop(path, f"{type(error).__name__}: {error}".splitlines()[0])
        if not callable(self.attention):
            stop(path, "expected a function attention(q, k, v)")
        self.inputs = q, k, v
        self.O, numbers = self.of(np.float64), np.random.default_rng(1)
        runs = [self.of(np.float32, [x * (1 + 2.0**-23 * numbers.uniform(-1, 1, x.shape)) for x in (q, k, v)]) for _ in range(32)]
        self.sigma = np.sqrt(np.mean([(O - self.O)**2 for O in runs], 0))

    def of(self, dtype, inputs=None) -> np.ndarray:
        q, k, v = (np.asarray(x, dtype) for x in inputs or self.inputs)
        group = q.shape[1] // k.shape[1]
        O = np.asarray(self.attention(q, *(np.repeat(x, group, 1) for x in (k, v))))
        if O.shape != q.shape:
            stop("attention", f"expected the shape of q, {q.shape}, it returned {O.shape}")
        return O.astype(np.float64)

    def differences(self, which: int, dO) -> tuple[np.ndarray, np.ndarray]:
        """Some positions in q, k or v, and the gradient of the sum of dO O there."""
        wide = [np.asarray(x, np.float64) for x in self.inputs]
        x = wide[which].reshape(-1)
        places, found = np.unique(np.linspace(0, x.size - 1, SOME).astype(int)), []
        for n in places:
            at, sums = x[n], []
            for x[n] in (at + STEP, at - STEP):
                sums.append((dO * self.of(np.float64, wide)).sum())
            x[n] = at
            found.append((sums[0] - sums[1]) / (2 * STEP))
        return places, np.array(found)


def compare(reference: Reference, outputs: dict, dO) -> bool:
    """One line per output; are all right?"""
    right = True
    for name, got in outputs.items():
        if name == "o":
            error, places, allowed = np.abs(got - reference.O), np.arange(got.size), 10 * reference.sigma
        else:
            places, found = reference.differences(("dq", "dk", "dv").index(name), dO)
            error, allowed = np.abs(got.reshape(-1)[places] - found), CLOSE * max(1.0, np.abs(found).max())
        with np.errstate(all="ignore"):
            of = np.where(error == 0, 0, error / allowed).reshape(-1)
        worst = np.argmax(of)  # NaN, if there is one
        ok = of[worst] <= 1
        place = ", ".join(map(str, np.unravel_index(places[worst], got.shape)))
        print(f"  {name:4}off by {error.reshape(-1)[worst]:8.2e}, {of[worst]:8.2f} of what is allowed, at {place:16}{'ok' if ok else 'WRONG'}")
        right &= ok
    return right


def check_folder(path: str, folder: Path) -> bool:
    def load(name):
        try:
            return np.load(folder / f"{name}.npy")
        except (OSError, ValueError) as error:
            stop(str(folder / f"{name}.npy"), str(error).splitlines()[0])

    def four(x):
        return x.reshape((1,) * (4 - x.ndim) + x.shape)

    names = [name for name in ("o", "dq", "dk", "dv") if (folder / f"{name}.npy").exists()]
    if not names:
        stop(str(folder), "expected an output: o.npy, dq.npy, dk.npy or dv.npy")
    q, k, v = (four(load(name)) for name in "qkv")
    dO = four(load("do")).astype(np.float64) if names != ["o"] else None
    outputs = {name: four(load(name)).astype(np.float64) for name in names}
    for name, x in outputs.items():
        if x.shape != {"o": q, "dq": q, "dk": k, "dv": v}[name].shape:
            stop(str(folder / f"{name}.npy"), f"expected the shape of its input, found {x.shape}")
    print(f"{folder} against {path}")
    return compare(Reference(path, q, k, v), outputs, dO)


def value_of(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def check_steps(path: str, options: dict) -> bool:
    import flash
    try:
        import torch
        import flash_torch
    except ImportError:
        torch = None
    numbers = np.random.default_rng(1)
    arrays = [numbers.standard_normal((1, H, N, 24)).astype(np.float32) for H, N in ((4, 37), (2, 37), (2, 37), (4, 37))]
    pairs = [(s.name, "07/complete") for s in flash.steps().values() if s.lse]
    pairs += [("05/complete", s.name) for s in flash.steps().values() if s.backward and s.name != "07/complete"]
    right, ran = True, 0
    for forward, backward in pairs:
        *inputs, dO = arrays
        if backward != "07/complete":  # the other steps have no grouped heads
            inputs[1:] = (np.repeat(x, 2, 1) for x in inputs[1:])
        try:
            O, lse = flash.forward(*inputs, step=forward, **options)
            gradients = flash.backward(*inputs, O, lse, dO, step=backward, **options)
        except (TypeError, ValueError) as error:
            if "this step supports" not in str(error):
                stop("options", str(error))
            continue
        ran += 1
        print(f"{forward}, {backward}")
        right &= compare(Reference(path, *inputs), dict(zip(("o", "dq", "dk", "dv"), (O, *gradients))), dO.astype(np.float64))
        if torch:
            q, k, v = (torch.from_numpy(x).clone().requires_grad_() for x in inputs)
            flash_torch.attention(q, k, v, step=forward, backward=backward, **options).backward(torch.from_numpy(dO))
            same = all(np.array_equal(x.grad.numpy(), g) for x, g in zip((q, k, v), gradients))
            print(f"  autograd in PyTorch: {'the same bits' if same else 'other gradients, WRONG'}")
            right &= same
    print(f"{ran} pairs of steps support {options}" if ran else f"no step supports {options}")
    return right and ran > 0


def main() -> int:
    if len(sys.argv) < 2:
        stop("arguments", "expected REFERENCE.py, and a folder of outputs or options as name=value")
    path, *rest = sys.argv[1:]
    if not Path(path).is_file():
        stop(path, "expected a file that defines attention(q, k, v)")
    if not rest:
        stop("arguments", "expected a folder of outputs or options after it: OUTPUTS=folder, or OPTIONS=\"softcap=2\"")
    if len(rest) == 1 and Path(rest[0]).is_dir():
        return 0 if check_folder(path, Path(rest[0])) else 1
    bad = [text for text in rest if "=" not in text]
    if bad:
        stop(bad[0], "expected a folder of outputs, or options as name=value")
    return 0 if check_steps(path, {name: value_of(x) for name, _, x in (text.partition("=") for text in rest)}) else 1


if __name__ == "__main__":
    sys.exit(main())
