"""tables.py - page tables from several runs.

    course.py tables scores      the bytes of S and P by N (04_flash_no_tiling/README.md)
    course.py tables tiles       accesses with tiles and without (05_flash_tiled_cpu/README.md)
    course.py tables messages    duration of delayed messages (05_flash_tiled_cpu/pages/ring.md); needs MPI
    course.py tables growth      memory and time of `complete` by N, one head, d = 64 (common/results/README.md)
    course.py tables cache       chapter 05's counts and misses of valgrind's simulated cache (05_…/pages/counting.md)
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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
    steps = output_of("build/05_flash_tiled_cpu --heads 4 --n-q 164 --d 32 --step all")
    print("| step | what it computes | accesses per pair | extra slow memory |\n|---|---|---:|---:|")
    print("| chapter 04 | attention in one pass, no tiles (lse adds 0.01) |", re.search(r" all .* (\d+\.\d\d) ", before).group(1), "| none |")
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


def growth():
    """The whole program's, as the operating system reports it, including input and checks. Runs are concurrent."""
    lengths, last = (8192, 16384, 32768, 65536, 131072, 262144), 32768  # of the backward pass
    columns = {"05, no mask": ("05_flash_tiled_cpu", []), "05, window 255,0": ("05_flash_tiled_cpu", ["--window", "255,0"]),
               "07, no mask": ("07_backward", []), "07, window 255,0": ("07_backward", ["--window", "255,0"])}
    runs = {(n, column): subprocess.Popen(["build/peers/resident", f"build/{program}", "--quiet", "--n-q", str(n), "--d", "64",
                                           "--threads", "1", *more], stdout=subprocess.PIPE, text=True)
            for n in lengths for column, (program, more) in columns.items() if n <= last or program[:2] == "05"}
    print(f"{'N':<15}" + "".join(f"{column:<21}" for column in columns).rstrip())
    for n in lengths:
        cells = [runs[n, column].communicate()[0].split() for column in columns if (n, column) in runs]
        print(f"{n:<8}" + "".join(f" {float(size) / 1e6:7.0f} MB {float(seconds):7.1f} s " for size, seconds in cells))
    print("the most memory of the whole program, and seconds of the processor")
    names = re.findall(r"^model name.*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE) if Path("/proc/cpuinfo").exists() else []
    print((names or [platform.processor()])[0])


CACHED = """
b: of a, where the line is still in the cache: softmax goes over a row of S three times; fa1 stores
   O, m and l where it has just loaded them.
c: 16 floats for each miss. A store that misses reads its line first; writing it back is not in c.

Tiles that fill M do not stay in this cache: beside each lies the place it was copied from, and S,
which M leaves out; and the cache drops what was used longest ago, needed or not. Tiles for M / 4
stay, and then the cache moves what the counter counts."""


def cache():
    """A step runs once and twice: the difference is one run without start-up. Nothing is timed: the same compiler and C
    library give the same figures, others differ in the third digit.
    """
    N, d, M = 256, 32, 4096
    valgrind = shutil.which("valgrind")
    if not valgrind:
        print("skipped: this needs valgrind, in the package of that name (apt-get install valgrind)")
        return
    # The environment and the program's path are on the stack and shift the rest: we clear one and fix the other's
    # length.
    with tempfile.TemporaryDirectory(prefix="cachegrind", dir="/tmp") as folder:
        shutil.copy("build/cachegrind-05", f"{folder}/program")

        def ran(*command):
            return subprocess.run([str(word) for word in command], cwd=folder, env={}, capture_output=True, text=True, check=True).stdout

        def misses(step, tiles, runs):
            ran(valgrind, "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=out", "--I1=32768,8,64",
                f"--D1={4 * M},{4 * M // 64},64", "--LL=8388608,16,64", "./program", step, N, d, tiles, runs)
            out = Path(folder, "out").read_text()
            columns, sums = (re.search(rf"^{word}: (.*)", out, re.MULTILINE).group(1).split() for word in ("events", "summary"))
            return sum(int(sums[columns.index(column)]) for column in ("D1mr", "D1mw"))

        def row(name, step, tiles, again):
            moved = 16 * (misses(step, tiles, 2) - misses(step, tiles, 1))
            counted = int(ran("./program", step, N, d, tiles, "count"))
            cells = ("-" if name[:2] == "04" else tiles, counted, again, moved)
            shown = [f"{cell:,}".replace(",", " ") if cell != "-" else cell for cell in cells]
            print(f"{name:<14} {shown[0]:>10} {shown[1]:>13} {shown[2]:>13} {shown[3]:>13} {moved / (counted - again):9.2f}")

        print(f"N = {N}, d = {d}; a cache of M = {M} floats, in lines of 16; what was used longest ago goes first\n")
        print(f"{'step':<14} {'tiles for':>10} {'a: counted':>13} {'b: again':>13} {'c: moved':>13} {'c / (a-b)':>9}")
        row("04 standard", "row_by_row", M, 2 * N * N)
        for step in "standard", "fa1", "fa2":
            for tiles in M, M // 2, M // 4:
                again = {"standard": 2 * N * N, "fa1": N * 4 * d // tiles * (N * d + 2 * N), "fa2": 0}
                row(f"05 {step}", step, tiles, again[step])
    print(CACHED)


def main(arguments):
    tables = {"scores": scores, "tiles": tiles, "messages": messages, "growth": growth, "cache": cache}
    if len(arguments) != 1 or arguments[0] not in tables:
        print(f"tables: expected {', '.join(tables)}, found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    try:
        tables[arguments[0]]()
    except (OSError, subprocess.CalledProcessError) as failed:
        print(f"tables: {failed}", file=sys.stderr)
        return 2
    return 0
