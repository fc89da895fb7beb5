"""tables.py - tables of pages that are made of what several runs print.

    course.py tables scores      the bytes of S and P by N (04_flash_no_tiling/README.md)
    course.py tables tiles       accesses with tiles and without (05_flash_tiled_cpu/README.md)
    course.py tables messages    how long delayed messages take (05_flash_tiled_cpu/pages/ring.md); it needs MPI
"""
import os
import re
import subprocess
import sys

TILES = (("standard", "attention, both matrix products by tiles"),
         ("block_matmul", "$(QK^T)V$ by tiles, *without* softmax"),
         ("fa1", "attention: FlashAttention, this page"),
         ("fa2", "attention: FlashAttention-2, next page"))
MESSAGES = ((2, 500_000, 1_000_000), (3, 500_000, 1_000_000), (5, 500_000, 1_000_000), (5, 10_000, 20))  # ranks, us, kB/s


def output_of(command):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(command.split(), env={**os.environ, **root}, capture_output=True, text=True, check=True).stdout


def scores():
    print("| N | S and P of one head |\n|---|---|")
    for n in 1024, 8192, 65536:
        size = 8 * n * n
        print(f"| {n} | {size / 1e9:.3g} GB |" if n > 10_000 else f"| {n} | {size / 1e6:.3g} MB |")


def tiles():
    before = output_of("build/04_flash_no_tiling --heads 4 --n-q 164 --d 32 --traffic")
    steps = output_of("build/05_flash_tiled_cpu --heads 4 --n-q 164 --d 32 --kernel all")
    print("| step | what it computes | accesses per pair | stored besides O |\n|---|---|---:|---:|")
    print("| chapter 04 | attention in one pass, no tiles |", re.search(r" all .* (\d+\.\d\d) ", before).group(1), "| none |")
    for step, what in TILES:
        pairs, stored = re.search(rf" {step} .*?(\d+\.\d\d)  +(none|[\d.]+ k?B) ", steps).groups()
        print(f"| `{step}` | {what} | {pairs} | {stored} |")


def messages():
    print("ranks  latency    bandwidth      model   measured, least of 3")
    for ranks, latency, bandwidth in MESSAGES:
        runs = [output_of(f"mpirun --oversubscribe -n {ranks} build/05_ring --n-q 120 --latency {latency} "
                          f"--bandwidth {bandwidth}") for _ in range(3)]
        model = re.search(r"by the model +([\d.]+) ms", runs[0]).group(1)
        measured = [float(re.search(r"measured +([\d.]+) ms", run).group(1)) for run in runs]
        print(f"{ranks:5}  {latency // 1000:4} ms  {bandwidth / 1000:6.2f} MB/s  {float(model):6.0f} ms  "
              f"{min(measured):6.0f} ms")


def main(arguments):
    tables = {"scores": scores, "tiles": tiles, "messages": messages}
    if len(arguments) != 1 or arguments[0] not in tables:
        print(f"tables: expected {', '.join(tables)}, found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    try:
        tables[arguments[0]]()
    except (OSError, subprocess.CalledProcessError) as failed:
        print(f"tables: {failed}", file=sys.stderr)
        return 2
    return 0
