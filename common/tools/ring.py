"""ring.py - the length above which a ring of GPUs overlaps its messages (05_flash_tiled_cpu/pages/ring.md): computed, not
measured.

    course.py ring

A step computes for pairs * flops / F seconds; its message takes alpha + bytes / beta. The first grows as n^2 with a
rank's rows n, the second as n. F is the speed of the course's fastest kernels on one GPU. NVLink has 900 GB/s in both
directions together, and each GPU its own 400 Gb/s adapter
(https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html). NCCL takes 8.4 us a message, plus 3.4
us on NVLink and 9.6 us on a network (its ring, simple protocol: src/graph/tuning.cc at commit 01afd20a).
"""
import math
import sys
from pathlib import Path

from plot_data import Failed, cells_of

HEADS, D = 32, 128
LINKS = {"NVLink": (11.8e-6, 450e9), "InfiniBand": (18.0e-6, 50e9)}
RINGS = ((8, "NVLink"), (64, "InfiniBand"), (1024, "InfiniBand"))
# name: direction, causal, query heads that share K and V
CASES = {"forward": ("forward", False, 1), "causal": ("forward", True, 1), "causal, 8 share": ("forward", True, 8),
         "backward, causal": ("backward", True, 1)}
FLOPS = {"forward": 4, "backward": 10}  # for each pair and element of d
BYTES = {"forward": 4, "backward": 12}  # for each key and element: K and V in 16 bits; backward also dK and dV in 32


def fastest(direction, causal):
    """The speed and name of the course's fastest kernel on an H200, in FLOP/s."""
    chapter = {"forward": "06_flash_tiled_cuda", "backward": "07_backward"}[direction]
    path = Path(chapter, "results/nvidia_h200.csv")
    rows = [(1e9 * float(row[11]), row[1]) for row in cells_of(path.read_text(encoding="utf-8"))[1:]
            if row[2] == "bf16" and row[6:9] == [str(D), str(int(causal)), direction] and "pytorch" not in row[1]]
    if not rows:
        raise Failed(f"{path}: expected kernels in bf16 with d = {D}, {direction}")
    return max(rows)


def rows_that_hide(link, direction, causal, shared):
    """The least n: n^2 seconds_a_pair = alpha + n seconds_a_row."""
    alpha, beta = LINKS[link]
    pair = FLOPS[direction] * D * HEADS / fastest(direction, causal)[0] / (2 if causal else 1)
    row = BYTES[direction] * D * HEADS / shared / beta
    return math.ceil((row + math.sqrt(row * row + 4 * pair * alpha)) / (2 * pair))


def grouped(number):
    return f"{number:,}".replace(",", " ")


def main(arguments):
    if arguments:
        print(f"ring: expected nothing else, found '{arguments[0]}'", file=sys.stderr)
        return 2
    try:
        print("measured, one H200, bf16, d 128:")
        for direction, causal in (("forward", False), ("forward", True), ("backward", True)):
            speed, kernel = fastest(direction, causal)
            print(f"    {direction + (', causal' if causal else ''):18} {speed / 1e12:5.0f} TFLOP/s  ({kernel})")
        print("published, for each GPU and direction:")
        for link, (alpha, beta) in LINKS.items():
            print(f"    {link:18} {beta / 1e9:5.0f} GB/s, and {alpha * 1e6:.1f} us for each message")
        print("computed, total tokens needed to hide the messages:")
        print(f"    {'GPUs':>4}  {'link':10}" + "".join(f"{case:>18}" for case in CASES))
        for ranks, link in RINGS:
            print(f"    {ranks:4}  {link:10}" + "".join(
                f"{grouped(ranks * rows_that_hide(link, *case)):>18}" for case in CASES.values()))
    except (Failed, OSError) as failed:
        print(f"ring: {failed}", file=sys.stderr)
        return 2
    return 0
