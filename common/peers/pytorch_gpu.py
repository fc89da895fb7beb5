"""PyTorch's attention on a GPU, in turns with something else: each backend that takes the type.

    pytorch_gpu.py [dry] COMMAND...       reads problems, lines of CHAPTER TYPE N d CAUSAL; 06 is forward, 07 the gradients

For each problem it prints rows as in a ladder's CSV, runs COMMAND with the problem's words appended, and prints the rows of
another turn. The first turn's rows have max_abs_error for N up to 4096, computed as the ladder does (checked.py, which needs
NumPy). `dry` tries all this on the CPU, on small problems.

A time is the median of 21 runs (fewer if they took more than a second) by the GPU's own clock, after two warm-up runs, on
two sets of random inputs larger than the L2 cache. Before each run the GPU rests as long as the last run took, at most
30 ms: at its power limit it is slower after more work. Work queued before each run hides Python's launch time.
"""
import statistics
import subprocess
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

try:
    import checked
except ImportError:
    checked = None

BATCH, RUNS, LEAST_RUNS, COPIES, CYCLES = 4, 21, 3, 2, 2_000_000
DRY = sys.argv[1:2] == ["dry"]
DEVICE, WHERE = ("cpu", "cpu") if DRY else ("cuda", "gpu")
SECONDS, REST = 1, 0.03  # for all runs of a problem, unless 3 take longer
HEADS, MOST_CHECKED = {"f32": 16, "bf16": 32}, 4096  # as in a ladder
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
BACKENDS = {"f32": {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION},
            "bf16": {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}}


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
    """With backward, the time of the gradients alone."""
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


def turn(chapter, kind, n, d, causal, errors):
    backward, heads, small = chapter == "07", HEADS[kind], 70 if DRY else n
    problems = [torch.randn(4 if backward else 3, 1 if DRY else BATCH, 2 if DRY else heads, small, d, device=DEVICE, dtype=TYPES[kind])
                for _ in range(COPIES)]
    for name, backend in BACKENDS[kind].items():
        try:
            ms = median_of(backend, problems, causal, backward)
            error = error_of(backend, kind, small, d, causal, backward) if errors else ""
        except RuntimeError:  # wrong type, or no room for S
            continue
        gflops = (10 if backward else 4) * pairs(heads, n, causal) * d / ms / 1e6
        print(f"{chapter},pytorch {name},{kind},{BATCH},{heads},{n},{d},{int(causal)},{'backward' if backward else 'forward'},"
              f"{WHERE},{ms:.5f},{gflops:.3f},,,{error}", flush=True)
    del problems
    if not DRY:
        torch.cuda.empty_cache()  # for the other program


def main():
    command = sys.argv[2 if DRY else 1:]
    torch.manual_seed(1)
    if DRY:
        torch.set_num_threads(1)  # other programs may be running
    torch.backends.cuda.matmul.allow_tf32 = False
    for line in sys.stdin:
        chapter, kind, n, d, causal = line.split()
        problem = chapter, kind, int(n), int(d), causal == "1"
        turn(*problem, checked is not None and problem[2] <= MOST_CHECKED)
        subprocess.run([*command, *line.split()], stdin=subprocess.DEVNULL, check=False)
        turn(*problem, False)


if __name__ == "__main__":
    main()
