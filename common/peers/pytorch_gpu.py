"""PyTorch's attention on a GPU: each backend that takes float32, on the problems of chapter 06's ladder.

Prints rows as the ladder's CSV has them. A time is the median of 21 runs by the GPU's own clock, after one that
does not count, on random inputs of which there are so many copies that none is found in the L2 cache.
"""
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BATCH, HEADS, N, RUNS, COPIES = 4, 16, 4096, 21, 4
BACKENDS = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def milliseconds(problem, causal):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    torch.nn.functional.scaled_dot_product_attention(*problem, is_causal=causal)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def pairs(causal):
    return BATCH * HEADS * (N * (N + 1) // 2 if causal else N * N)


def main():
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    for d in (64, 128):
        problems = [torch.randn(3, BATCH, HEADS, N, d, device="cuda") for _ in range(COPIES)]
        for causal in (False, True):
            for name, backend in BACKENDS.items():
                try:
                    with sdpa_kernel([backend]):
                        times = [milliseconds(problems[run % COPIES], causal)
                                 for run in range(RUNS + 1)][1:]
                except RuntimeError:  # the backend does not take float32, or such problems
                    continue
                time = statistics.median(times)
                print(f"06,pytorch {name},f32,{BATCH},{HEADS},{N},{d},{int(causal)},forward,gpu,"
                      f"{time:.5f},{4 * pairs(causal) * d / time / 1e6:.3f},,,")


if __name__ == "__main__":
    main()
