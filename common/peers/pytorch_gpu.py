"""PyTorch's attention on a GPU: each backend that takes the type, on the problems of a chapter's ladders.

    pytorch_gpu.py forward | backward [errors] [dry]       chapter 06's, or the gradients of chapter 07's

Prints rows as the ladder's CSV has them. With `errors` they have max_abs_error: how far the backend is off on the problem
that the ladder checks, computed as the ladder does (checked.py, which needs NumPy). `dry` tries all this on the CPU, on small problems.
A time is the median of 21 runs by the GPU's own clock, of fewer where they would take longer than 2 seconds, after two that do not count, on random inputs that are larger than the L2 cache, of which there are two.
Before each the GPU rests for as long as the run before took, 30 ms at most: at its power limit it is slower the more it had to do
just before. While Python asks for a run the GPU is kept busy, so that the time of asking is not part of it.
"""
import statistics
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

try:
    import checked
except ImportError:
    checked = None

BATCH, RUNS, LEAST_RUNS, COPIES, CYCLES = 4, 21, 3, 2, 2_000_000
DRY = "dry" in sys.argv[2:]
DEVICE, WHERE = ("cpu", "cpu") if DRY else ("cuda", "gpu")
SECONDS, REST = 2, 0.03  # about so long the runs of a problem take, if 3 do not take longer
# type, heads, N, d
BACKWARD = [("f32", 16, 4096, 64), ("f32", 16, 4096, 128), ("bf16", 32, 4096, 64),
            ("bf16", 32, 4096, 128), ("bf16", 32, 8192, 128)]
FORWARD = BACKWARD + [("bf16", 32, 8192, 64), ("bf16", 32, 16384, 64), ("bf16", 32, 16384, 128)]
SMALL = [("f32", 2, 70, 64), ("bf16", 2, 70, 64)]
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
BACKENDS = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def milliseconds(work):
    if DRY:
        begin = time.perf_counter()
        work()
        return 1000 * (time.perf_counter() - begin)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(CYCLES)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def attention(problem, causal):
    return torch.nn.functional.scaled_dot_product_attention(*problem[:3], is_causal=causal)


def median_of(backend, problems, causal, backward):
    """The time of the pass; with backward, of the gradients alone."""
    with sdpa_kernel([backend]):
        works = []
        for problem in problems:
            if backward:
                inputs = [x.detach().requires_grad_() for x in problem[:3]]
                O = attention(inputs, causal)
                works.append(lambda O=O, inputs=inputs, dO=problem[3]: torch.autograd.grad(
                    O, inputs, dO, retain_graph=True))
            else:
                works.append(lambda problem=problem: attention(problem, causal))
        times = [milliseconds(work) for work in works]  # warm
        runs = max(LEAST_RUNS, min(RUNS, int(1000 * SECONDS / times[-1])))
        for run in range(runs):
            time.sleep(min(times[-1] / 1000, REST))
            times.append(milliseconds(works[run % len(works)]))
        return statistics.median(times[len(works):])


def error_of(backend, kind, n, d, causal, backward):
    """max_abs_error, with three digits."""
    inputs = checked.problem(kind, 1 if backward else 2, n, d)
    Q, K, V, dO = (torch.from_numpy(x.copy()).to(DEVICE, TYPES[kind])[None].requires_grad_(backward) for x in inputs)
    with sdpa_kernel([backend]):
        O = attention([Q, K, V], causal)
        outputs = torch.autograd.grad(O, (Q, K, V), dO) if backward else [O]
    error = checked.error_of_gradients if backward else checked.error_of_output
    return f"{error(inputs, causal, *(x[0].float().cpu().numpy() for x in outputs)):.3e}"


def pairs(heads, n, causal):
    return BATCH * heads * (n * (n + 1) // 2 if causal else n * n)


def main():
    direction = sys.argv[1] if len(sys.argv) > 1 else "forward"
    if direction not in ("forward", "backward"):
        sys.exit(f"pytorch_gpu.py: expected forward or backward, found '{direction}'")
    backward = direction == "backward"
    errors = "errors" in sys.argv[2:] and checked is not None
    if "errors" in sys.argv[2:] and not errors:
        print("pytorch_gpu.py: its errors are left out: this Python has no NumPy", file=sys.stderr)
    chapter, operations = ("07", 10) if backward else ("06", 4)
    torch.manual_seed(1)
    if DRY:
        torch.set_num_threads(1)  # other programs may be running
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind, heads, n, d in SMALL if DRY else BACKWARD if backward else FORWARD:
        problems = [torch.randn(4 if backward else 3, BATCH, heads, n, d, device=DEVICE,
                                dtype=TYPES[kind]) for _ in range(COPIES)]
        for causal in (False, True):
            for name, backend in BACKENDS.items():
                try:
                    ms = median_of(backend, problems, causal, backward)
                    error = error_of(backend, kind, n, d, causal, backward) if errors else ""
                except RuntimeError:  # the backend does not take the type, or there is no room for S
                    continue
                finally:
                    if not DRY:
                        torch.cuda.empty_cache()
                print(f"{chapter},pytorch {name},{kind},{BATCH},{heads},{n},{d},{int(causal)},"
                      f"{direction},{WHERE},{ms:.5f},"
                      f"{operations * pairs(heads, n, causal) * d / ms / 1e6:.3f},,,{error}", flush=True)


if __name__ == "__main__":
    main()
