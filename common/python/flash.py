"""Attention of chapters 04 to 07 from Python: any step, on NumPy arrays, in place.

    O, lse = flash.forward(Q, K, V, causal=True)                     # 05/complete
    dQ, dK, dV = flash.backward(Q, K, V, O, lse, dO, causal=True)    # 07/complete
    flash.explained(Q, K, V, O=O, lse=lse, causal=True)              # {'O': 0.25, 'lse': 0.11}: over 1 is wrong
    flash.check(Q, K, V, O, causal=True)                             # raises AssertionError, with the cause, if O is wrong

Arrays are (N, d), (H, N, d) or (B, H, N, d), as for the programs. A float32 array that is contiguous is used
where it lies; float16, float64 and other layouts are converted to a copy. Whatever does not fit raises
ValueError, TypeError, MemoryError or RuntimeError before anything is written. Options are the fields of Options.
"""
from __future__ import annotations

import ctypes
import functools
import math
import operator
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

size_t, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
MAX_D = 256
DTYPES = ("f32", "bf16", "f16")


class Attention(ctypes.Structure):  # struct attention of common/problem/attention.h
    _fields_ = [(name, size_t) for name in ("B", "H", "Hkv", "Nq", "Nk", "d")] + [
        ("dtype", ctypes.c_int), ("scale", ctypes.c_float),
        ("causal", ctypes.c_bool), ("top_left", ctypes.c_bool), ("softcap", ctypes.c_float),
        ("window_left", ctypes.c_ssize_t), ("window_right", ctypes.c_ssize_t),
        ("key_mask", pointer), ("block_mask", pointer),
        ("mask_rows", size_t), ("mask_cols", size_t),
        ("dropout", ctypes.c_double), ("dropout_threshold", ctypes.c_uint32),
        ("dropout_seed", ctypes.c_uint64),
        # Your variant: its parameters, as in struct attention.
    ]


class Call(ctypes.Structure):  # struct binding_call of common/python/binding.c
    _fields_ = [(name, size_t) for name in ("br", "bc", "threads")] + [
        (name, pointer) for name in ("Q", "K", "V", "dO", "O", "lse", "dQ", "dK", "dV")]


class DoorStep(ctypes.Structure):
    _fields_ = [("name", text), ("idea", text), ("backward", ctypes.c_bool), ("lse", ctypes.c_bool)]


problem_p, call_p = ctypes.POINTER(Attention), ctypes.POINTER(Call)


class Binding(ctypes.Structure):
    _fields_ = [
        ("steps", ctypes.CFUNCTYPE(size_t)), ("attention_bytes", size_t), ("call_bytes", size_t),
        ("step", ctypes.CFUNCTYPE(DoorStep, size_t)),
        ("unsupported", ctypes.CFUNCTYPE(text, size_t, problem_p, call_p)),
        ("room", ctypes.CFUNCTYPE(ctypes.c_double, size_t, problem_p, call_p, size_t)),
        ("run", ctypes.CFUNCTYPE(None, size_t, problem_p, call_p)),
        ("call", ctypes.CFUNCTYPE(text, pointer, size_t, problem_p, call_p, ctypes.POINTER(size_t))),
        ("prepare", ctypes.CFUNCTYPE(None, problem_p)),
        ("check", ctypes.CFUNCTYPE(text, problem_p, call_p, ctypes.c_bool, text, size_t, ctypes.POINTER(ctypes.c_double)))]


class Step(NamedTuple):
    """A step: "05/fa2" is number 3 of chapter 05's binding."""
    name: str
    idea: str
    backward: bool
    lse: bool
    binding: Binding
    number: int


@dataclass(frozen=True)
class Options:
    """Options of attention, as on the programs' command lines."""
    scale: float | None = None  # 1/sqrt(d)
    causal: bool | str = False  # True and "bottom-right", or "top-left"
    window: tuple[int, int] = (-1, -1)  # keys before and after a query's position; -1: all
    key_mask: np.ndarray | None = None  # (B, Nk) of bool or uint8, 0 masks
    block_mask: np.ndarray | None = None  # one number per block of mask_block, 0 masks
    mask_block: tuple[int, int] = (64, 64)
    softcap: float | None = None  # C > 0: a score s becomes C tanh(s / C) before the masks; 0: none
    # Your variant: its options.
    dropout: float = 0.0
    dropout_seed: int = 0
    dtype: str = "f32"  # type to which chapter 06's kernels round Q, K and V
    tile: tuple[int, int] | None = None  # Br, Bc; None: the step's default
    threads: int | None = None  # None: OpenMP's setting


WORDS = {  # of other libraries
    "is_causal": 'causal="top-left", since causal=True aligns the last query with the last key',
    "attn_mask": "key_mask= of shape (B, Nk), window=, or block_mask= with mask_block=(1, 1)", "enable_gqa": "fewer heads of K and V than of Q",
    "dropout_p": "dropout=", "softmax_scale": "scale=", "sm_scale": "scale=", "window_size": "window=", "logits_soft_cap": "softcap="}


def _options(options: dict) -> Options:
    for name in options.keys() & WORDS.keys():
        raise TypeError(f"{name}: expected {WORDS[name]}")
    return Options(**options)


def library() -> Path:
    """The path of libflash.so: FLASH_LIBRARY, or the output of `make python`."""
    usual = Path(__file__).resolve().parents[2] / "build" / "libflash.so"
    return Path(os.environ.get("FLASH_LIBRARY", usual))


@functools.lru_cache(maxsize=None)
def steps() -> dict[str, Step]:
    """All steps by name."""
    if not library().exists():
        raise ImportError(f"{library()}: expected the library, which make python builds")
    lib, found = ctypes.CDLL(str(library())), {}
    for chapter in ("04", "05", "06", "07"):
        if not hasattr(lib, "binding_" + chapter):
            continue  # a student's library has one chapter
        binding = Binding.in_dll(lib, "binding_" + chapter)
        if (binding.attention_bytes, binding.call_bytes) != (ctypes.sizeof(Attention), ctypes.sizeof(Call)):
            raise ImportError(f"{library()}: expected the structures of flash.py: run make python, or flash.py lacks a field of struct attention")
        for n in range(binding.steps()):
            s = binding.step(n)
            name = f"{chapter}/{s.name.decode()}"
            found[name] = Step(name, s.idea.decode(), s.backward, s.lse, binding, n)
    return found


# ---- checking arguments -------------------------------------------------------------------------


def _whole(name: str, value, low: int, high: int = 2**62) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, found {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: expected {'at least ' + str(low) if high == 2**62 and number < low else f'{low} to {high}'}, "
                         f"found {number}")
    return number


def _real(name: str, value) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, found {value!r}") from None


def _pair(name: str, value, low: int) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{name}: expected two numbers, found {value!r}")
    return _whole(name, value[0], low), _whole(name, value[1], low)


def floats(name: str, x) -> np.ndarray:
    """Contiguous float32: x itself, or a converted copy."""
    x = np.asarray(x)
    if x.dtype.type not in (np.float16, np.float32, np.float64):
        raise TypeError(f"{name}: expected float32, float16 or float64 numbers, found {x.dtype}")
    return np.require(x, np.float32, ["C", "A"])


def taken(name: str, x) -> np.ndarray:
    """The same from any array of the CPU or a GPU: by the buffer protocol, DLPack, or its library's own way."""
    if hasattr(x, "detach"):  # PyTorch's
        x = x.detach().cpu()
        x = x.float() if str(x.dtype) == "torch.bfloat16" else x
    elif hasattr(x, "get") and hasattr(x, "__dlpack__"):  # CuPy's
        x = x.get()
    try:
        x = x if isinstance(x, np.ndarray) else np.from_dlpack(x)
    except (AttributeError, BufferError, RuntimeError, TypeError):
        x = np.asarray(x)
    if x.dtype.name == "bfloat16" or x.dtype == "V2":  # ml_dtypes, and such an array from a file
        x = (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return floats(name, x)


def _mask(name: str, x, shape: tuple[int, int], meaning: str) -> np.ndarray:
    x = np.asarray(x)
    if x.dtype.type not in (np.bool_, np.uint8):
        raise TypeError(f"{name}: expected a mask of bool or uint8, found {x.dtype}")
    if x.shape != shape:
        raise ValueError(f"{name}: expected shape {meaning} = {shape}, found {x.shape}")
    return np.ascontiguousarray(x)


def _same_shape(name: str, x: np.ndarray, shape: tuple[int, ...], of: str) -> np.ndarray:
    if x.shape != shape:
        raise ValueError(f"{name}: expected {of}, {shape}, found {x.shape}")
    return x


def _output(name: str, x, shape: tuple[int, ...], inputs) -> np.ndarray:
    """The caller's array, or a new one."""
    if x is None:
        return np.empty(shape, np.float32)
    if not isinstance(x, np.ndarray) or x.dtype != np.float32 or x.dtype.byteorder not in "=|":
        raise TypeError(f"{name}: expected an array of float32 to write to, found {getattr(x, 'dtype', type(x))}")
    if not (x.flags.c_contiguous and x.flags.aligned and x.flags.writeable):
        raise ValueError(f"{name}: expected a contiguous array that can be written to")
    if any(np.may_share_memory(x, other) for other in inputs if other is not None):
        raise ValueError(f"{name}: expected memory of its own, found that of another array")
    return _same_shape(name, x, shape, "shape")


def _problem(Q: np.ndarray, K: np.ndarray, V: np.ndarray, o: Options) -> tuple[Attention, list]:
    """With the arrays that it points to."""
    if not 2 <= Q.ndim <= 4:
        raise ValueError(f"Q: expected shape (N, d), (H, N, d) or (B, H, N, d), found {Q.shape}")
    if K.ndim != Q.ndim:
        raise ValueError(f"K: expected as many dimensions as Q, {Q.ndim}, found {K.ndim}")
    B, H, Nq, d = (1,) * (4 - Q.ndim) + Q.shape
    _, Hkv, Nk, _ = (1,) * (4 - K.ndim) + K.shape
    for name, x in (("Q", Q), ("K", K)):
        if x.size == 0:
            raise ValueError(f"{name}: expected at least one element in each dimension, found {x.shape}")
    if Q.ndim == 4 and K.shape[0] != B:
        raise ValueError(f"K: expected the batch size of Q, {B}, found {K.shape[0]}")
    if K.shape[-1] != d:
        raise ValueError(f"K: expected the row length of Q, {d}, found {K.shape[-1]}")
    if H % Hkv:
        raise ValueError(f"K: expected a number of heads that divides the {H} of Q, found {Hkv}")
    _same_shape("V", V, K.shape, "the shape of K")
    if d > MAX_D:
        raise ValueError(f"Q: expected rows of at most {MAX_D} elements, found {d}")

    scale = 1.0 / math.sqrt(d) if o.scale is None else _real("scale", o.scale)
    if not abs(scale) <= float(np.finfo(np.float32).max):
        raise ValueError(f"scale: expected a finite float32, found {scale}")
    softcap = 0.0 if o.softcap is None else ctypes.c_float(_real("softcap", o.softcap)).value
    if o.softcap and not 0.0 < softcap < math.inf:
        raise ValueError(f"softcap: expected a finite float32 above 0, or 0 for none, found {o.softcap}")
    if o.causal not in (False, True, "bottom-right", "top-left"):
        raise ValueError(f"causal: expected True, False, 'bottom-right' or 'top-left', found {o.causal!r}")
    dropout = _real("dropout", o.dropout)
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout: expected 0 <= P < 1, found {dropout}")
    if o.dtype not in DTYPES:
        raise ValueError(f"dtype: expected {', '.join(DTYPES)}, found {o.dtype!r}")
    left, right = _pair("window", o.window, -1)
    rows, cols = _pair("mask_block", o.mask_block, 1)
    masks = []
    if o.key_mask is not None:
        masks.append(_mask("key_mask", o.key_mask, (B, Nk), "(B, Nk)"))
    if o.block_mask is not None:
        blocks = (-(-Nq // rows), -(-Nk // cols))
        masks.append(_mask("block_mask", o.block_mask, blocks, f"(ceil(Nq / {rows}), ceil(Nk / {cols}))"))
    # Your variant: its options become its parameters.
    return Attention(
        B=B, H=H, Hkv=Hkv, Nq=Nq, Nk=Nk, d=d, dtype=DTYPES.index(o.dtype), scale=scale,
        causal=bool(o.causal), top_left=o.causal == "top-left", softcap=softcap,
        window_left=left, window_right=right,
        key_mask=masks[0].ctypes.data if o.key_mask is not None else None,
        block_mask=masks[-1].ctypes.data if o.block_mask is not None else None,
        mask_rows=rows, mask_cols=cols, dropout=dropout,
        dropout_seed=_whole("dropout_seed", o.dropout_seed, 0, 2**64 - 1)), masks


def _step(name: str, backward: bool) -> Step:
    step = steps().get(name)
    if step is None or step.backward != backward:
        names = ", ".join(s.name for s in steps().values() if s.backward == backward)
        raise ValueError(f"step: expected one of {names}; found {name!r}")
    return step


# ---- calling ------------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()  # extra memory is recorded once for all threads
_extra = size_t(0)


def extra_bytes() -> int:
    """Peak bytes of the last call besides the arrays passed and returned."""
    return _extra.value


def _call(step: Step, p: Attention, o: Options, **arrays) -> None:
    call = Call(threads=0 if o.threads is None else _whole("threads", o.threads, 1, 1024),
                **{name: None if x is None else x.ctypes.data for name, x in arrays.items()})
    if o.tile is not None:
        call.br, call.bc = _pair("tile", o.tile, 1)
    step.binding.prepare(p)
    unsupported = step.binding.unsupported(step.number, p, call)
    if unsupported:
        option = re.sub(r"--([a-z-]+)", lambda found: found[1].replace("-", "_"), unsupported.decode())
        raise ValueError(f"{step.name}: expected what this step supports, found {option}")
    with _one_at_a_time:
        wrong = step.binding.call(ctypes.addressof(step.binding), step.number, p, call, _extra)
    if wrong == b"out of threads":
        raise RuntimeError(f"{step.name}: expected as many threads as it is to use, and the system starts fewer")
    if wrong:
        raise MemoryError(f"{step.name}: {wrong.decode()}: it needs up to "
                          f"{step.binding.room(step.number, p, call, call.threads or 1) / 1e9:.3g} GB of its own")


def forward(Q, K, V, *, step: str = "05/complete", out=None, lse=None,
            **options) -> tuple[np.ndarray, np.ndarray | None]:
    """O in the shape of Q, and lse in that shape without d; None of steps that do not write it.

    `out` and `lse` may be arrays of float32 to write to.
    """
    o, chosen = _options(options), _step(step, backward=False)
    Q, K, V = floats("Q", Q), floats("K", K), floats("V", V)
    p, masks = _problem(Q, K, V, o)
    O = _output("out", out, Q.shape, (Q, K, V, lse, *masks))
    if lse is not None and not chosen.lse:
        raise ValueError(f"lse: expected a step that writes it, and {step} does not")
    L = _output("lse", lse, Q.shape[:-1], (Q, K, V, *masks)) if chosen.lse else None
    _call(chosen, p, o, Q=Q, K=K, V=V, O=O, lse=L)
    return O, L


def backward(Q, K, V, O, lse, dO, *, step: str = "07/complete", out=(None, None, None),
             **options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """dQ, dK and dV of a forward call with the same options, which returned O and lse."""
    o, chosen = _options(options), _step(step, backward=True)
    Q, K, V = floats("Q", Q), floats("K", K), floats("V", V)
    p, masks = _problem(Q, K, V, o)
    O = _same_shape("O", floats("O", O), Q.shape, "the shape of Q")
    dO = _same_shape("dO", floats("dO", dO), Q.shape, "the shape of Q")
    lse = _same_shape("lse", floats("lse", lse), Q.shape[:-1], "the shape of Q without d")
    if not isinstance(out, (tuple, list)) or len(out) != 3:
        found = len(out) if isinstance(out, (tuple, list)) else type(out).__name__
        raise ValueError(f"out: expected three arrays, found {found}")
    given = [x for x in (Q, K, V, O, lse, dO, *masks)]
    results = []
    for name, x, like in zip(("dQ", "dK", "dV"), out, (Q, K, V)):
        results.append(_output(name, x, like.shape, given + results))
    _call(chosen, p, o, Q=Q, K=K, V=V, O=O, lse=lse, dO=dO, dQ=results[0], dK=results[1], dV=results[2])
    return tuple(results)


RESULTS = "O", "lse", "dQ", "dK", "dV"


def _check(name: str, arrays: dict, o: Options, has_dtype: bool, said=None) -> dict[str, float]:
    """What the arrays are off by, and a report in `said`."""
    Q, K = arrays["Q"], arrays["K"]
    p, masks = _problem(Q, K, arrays["V"], o)
    for x, like, of in (("O", Q, "Q"), ("lse", Q[..., 0], "Q without d"), ("dO", Q, "Q"), ("dQ", Q, "Q"), ("dK", K, "K"), ("dV", K, "K")):
        _same_shape(x, arrays.get(x, like), like.shape, "the shape of " + of)
    given = [x for x in RESULTS if x in arrays]
    if not given or ("dO" in arrays) != any(x[0] == "d" for x in given):
        raise ValueError(f"{name}: expected O or lse, or dQ, dK or dV with dO, found {', '.join(x for x in arrays if x not in 'QKV') or 'none'}")
    binding, found = next(iter(steps().values())).binding, (ctypes.c_double * len(RESULTS))()
    binding.prepare(p)
    with _one_at_a_time:
        wrong = binding.check(p, Call(**{x: array.ctypes.data for x, array in arrays.items()}), has_dtype, said, len(said or ()), found)
    if wrong:
        raise (MemoryError if wrong == b"out of memory" else RuntimeError)(f"{name}: {wrong.decode()}")
    return {x: y for x, y in zip(RESULTS, found) if x in given}


def explained(Q, K, V, **arrays) -> dict[str, float]:
    """The error of each result that is given, O, lse, dQ, dK and dV, in units of what rounding explains: over 1 is wrong.

    The gradients come with dO (common/check/tolerance.h). What is no number is off by infinity.
    """
    options = {name: arrays.pop(name) for name in [*arrays] if name not in (*RESULTS, "dO")}
    given = {name: floats(name, x) for name, x in dict(Q=Q, K=K, V=V, **arrays).items() if x is not None}
    return _check("explained", given, _options(options), True)


def check(Q, K, V, O=None, *, layout: str = "BHND", dtype: str | None = None, **arrays) -> str:
    """The verdict of your own O, lse, dQ, dK and dV as a text; AssertionError, with the causes, if one is wrong.

    Arrays may be NumPy's, PyTorch's, CuPy's, or any with DLPack. layout="BNHD": all but lse are (B, N, H, d). Without
    dtype= the arrays are judged as 16 bits if they have no more digits. Gradients come with dO.
    """
    options = {name: arrays.pop(name) for name in [*arrays] if name not in (*RESULTS, "dO")}
    given = {name: taken(name, x) for name, x in dict(Q=Q, K=K, V=V, O=O, **arrays).items() if x is not None}
    if layout not in ("BHND", "BNHD"):
        raise ValueError(f"layout: expected 'BHND' or 'BNHD', found {layout!r}")
    if layout == "BNHD":
        given = {name: x if name == "lse" else np.ascontiguousarray(x.swapaxes(-3, -2)) for name, x in given.items()}
    said = ctypes.create_string_buffer(10000)
    try:
        found = _check("check", given, _options({**options, "dtype": dtype or "f32"}), dtype is not None, said)
    except ValueError as error:
        hint = "; layout='BNHD' is for arrays of shape (B, N, H, d)" if str(error)[:2] in ("Q:", "K:", "V:", "O:") else ""
        raise ValueError(f"{error}{hint}") from None
    if not all(x <= 1 for x in found.values()):
        raise AssertionError(said.value.decode())
    return said.value.decode()


def cases(dtype: str = "f32", B: int = 2, H: int = 4, Hkv: int = 2, d: int = 64):
    """Inputs on which wrong attention shows: name, Q, K, V, options."""
    numbers = np.random.default_rng(1)

    def problem(name, Nq=65, Nk=129, change=None, **options):
        arrays = Q, K, V = [numbers.standard_normal((B, heads, N, d), np.float32) for heads, N in ((H, Nq), (Hkv, Nk), (Hkv, Nk))]
        if change:
            change(Q, K, V)
        if dtype == "f16":
            arrays = [x.astype(np.float16) for x in arrays]
        elif dtype == "bf16":
            arrays = [(x.view(np.uint32) + 0x8000 & 0xFFFF0000).view(np.float32) for x in arrays]
        return name, *arrays, options

    def along(slope):  # scores that rise or fall by the key
        def change(Q, K, V):
            Q[...] = 1
            K *= 0.1
            K += slope / np.sqrt(d) * np.arange(K.shape[2], dtype=np.float32)[:, None]
        return change

    def one(array, factor):
        def change(*arrays):
            arrays[array][:, :, arrays[array].shape[2] * 2 // 3] *= factor
        return change

    def fill(array, value):
        def change(*arrays):
            arrays[array][...] = value
        return change

    def pairs(Q, K, V):  # values that cancel
        K[:, :, 1::2], V[:, :, 1::2] = K[:, :, :-1:2], -V[:, :, :-1:2]

    for Nq, Nk in ((1, 1), (1, 129), (64, 64), (65, 127), (127, 65), (3, 300)):
        yield problem(f"{Nq} queries, {Nk} keys", Nq, Nk)
        yield problem(f"causal, {Nq} queries, {Nk} keys", Nq, Nk, causal=True)
        yield problem(f"top-left, {Nq} queries, {Nk} keys", Nq, Nk, causal="top-left")
    for name, change in (("equal scores", fill(0, 0)), ("equal keys", fill(1, 0.5)), ("equal values", fill(2, 3)), ("scores that rise", along(0.2)),
                         ("scores that fall", along(-0.2)), ("large scores", lambda Q, K, V: np.multiply(Q, 30, out=Q)), ("V + 100", lambda Q, K, V: np.add(V, 100, out=V)),
                         ("a large query", one(0, 50)), ("a large key", one(1, 50)), ("a large value", one(2, 1000)), ("pairs that cancel", pairs)):
        yield problem(name, change=change)
        yield problem(f"{name}, causal", change=change, causal=True)
    for window in ((0, 0), (20, 3), (-1, 5), (64, -1)):
        yield problem(f"window {window}", window=window)
    mask = numbers.random((B, 129)) < 0.7
    mask[-1] = False
    yield problem("no key of the last text", key_mask=mask)
    yield problem("softcap", change=one(1, 10), softcap=2.0, causal=True)
    yield problem("scale", scale=-0.3)
