"""PyTorch's attention on a GPU: each backend that takes the type, on the problems of chapter 06's ladders.

Prints rows as the ladder's CSV has them. A time is the median of 21 runs by the GPU's own clock, after one that
does not count, on random inputs of which there are so many copies that none is found in the L2 cache.
"""
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BATCH, RUNS = 4, 21
# type, heads, N, d, copies
PROBLEMS = [("f32", 16, 4096, 64, 4), ("f32", 16, 4096, 128, 4), ("bf16", 32, 4096, 64, 4),
            ("bf16", 32, 4096, 128, 4), ("bf16", 32, 8192, 128, 2), ("bf16", 32, 16384, 128, 2)]
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
BACKENDS = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def milliseconds(problem, causal):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    torch.nn.functional.scaled_dot_product_attention(*problem, is_causal=causal)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def pairs(heads, n, causal):
    return BATCH * heads * (n * (n + 1) // 2 if causal else n * n)


def main():
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind, heads, n, d, copies in PROBLEMS:
        problems = [torch.randn(3, BATCH, heads, n, d, device="cuda", dtype=TYPES[kind])
                    for _ in range(copies)]
        for causal in (False, True):
            for name, backend in BACKENDS.items():
                try:
                    with sdpa_kernel([backend]):
                        times = [milliseconds(problems[run % copies], causal)
                                 for run in range(RUNS + 1)][1:]
                except RuntimeError:  # the backend does not take the type, or there is no room for S
                    torch.cuda.empty_cache()
                    continue
                time = statistics.median(times)
                print(f"06,pytorch {name},{kind},{BATCH},{heads},{n},{d},{int(causal)},forward,gpu,"
                      f"{time:.5f},{4 * pairs(heads, n, causal) * d / time / 1e6:.3f},,,")


if __name__ == "__main__":
    main()
