"""plot_data.py - data for the gnuplot pictures, from counted runs, traces, stored results, or layouts in the sources.
Each function returns the lines of a data file.
"""
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import measured
from measured import Failed

CPU_RESULTS = "common/results/intel_xeon_2_cores.csv"
CPU_WITH_PEERS = "common/results/amd_epyc_family_26_2_cores.csv"


class Programs:
    def __init__(self, build, data):
        self.build, self.data, self.csv = build, data, f"{data}/csv.{os.getpid()}"

    def run(self, chapter, *options):
        program = f"{self.build}/{chapter}"
        if not os.path.exists(program):
            raise Failed(f"{program}: expected the chapter's program; make builds it")
        return measured.output_of(program, *options)

    def rows(self, chapter, *options):
        self.run(chapter, *options, "--csv", self.csv)
        return cells_of(Path(self.csv).read_text(encoding="utf-8"))[1:]


def cells_of(text):
    return [line.split(",") for line in text.splitlines() if not line.startswith("#")]


def six(x):
    return f"{x:.6g}"


# ---- chapters 03 to 05 --------------------------------------------------------------------------

def running_statistics(programs):
    trace = programs.run("03_online_softmax", "--rows", 1, "--cols", 64, "--seed", 4, "--trace")
    return [" ".join(words[:4]) for words in map(str.split, trace.splitlines()) if words[4:6] == ["l", "="]]


def extra_memory(programs):
    """step N accesses, bytes of stored matrices, bytes of fast memory, for 192 kB of fast memory."""
    lines = []
    for N in (64, 128, 256, 512):
        for row in programs.rows("05_flash_tiled_cpu", "--step", "all", "--n-q", N, "--d", 64, "--sram", 49152):
            lines += [f"{row[1]} {N} {row[4]} {row[6]} {row[7]}"] if row[4] else []  # vector code is not counted
        for row in programs.rows("04_flash_no_tiling", "--n-q", N, "--d", 64, "--traffic"):
            lines.append(f"one_pass {N} {row[2]} - {row[3]}")
    return lines


def accesses_against_m(programs):
    """step M accesses, for N = 256 and d = 32; fa2_paper has fa1's tiles."""
    lines, shape = [], ("--n-q", 256, "--d", 32)
    for M in (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192):
        rows = programs.rows("05_flash_tiled_cpu", "--step", "all", *shape, "--sram", M)
        lines += [f"{row[1]} {M} {row[4]}" for row in rows if row[4]]
        Br, Bc = next(row[2:4] for row in rows if row[1] == "fa1")
        for row in programs.rows("05_flash_tiled_cpu", "--step", "fa2", "--br", Br, "--bc", Bc, *shape, "--traffic"):
            lines.append(f"fa2_paper {M} {row[2]}")
    return lines


def tile_order(programs):
    """step, when, key, query, visible: all pairs of 8 by 8, in the order of their tiles."""
    lines = []
    for step, *causal in (("fa1",), ("fa2",), ("masks", "--causal")):
        when, tile = 0, None
        for row in cells_of(programs.run("05_flash_tiled_cpu", "--step", step, *causal, "--n-q", 8, "--d", 4,
                                         "--br", 2, "--bc", 2, "--trace=csv")):
            if len(row) > 7 and row[4] == "S":
                if row[2:4] != tile:
                    when, tile = when + 1, row[2:4]
                lines.append(f"{step} {when} {int(row[2]) + int(row[6])} {int(row[3]) + int(row[5])} {int(row[7] != '-inf')}")
    return lines


def block_sparse(programs):
    """Blocks computed, total, accesses: tiles are the mask's blocks, N = 512, d = 32."""
    lines = []
    for density in (0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1):
        for seed in (1, 2, 3):
            options = ("--step", "masks", "--block-mask", f"random:{density}:{seed}", "--mask-block", "32,32", "--br", 32,
                       "--bc", 32, "--n-q", 512, "--d", 32, "--traffic", "--csv", programs.csv)
            full, skipped = map(int, re.search(r"(\d+) tiles full, 0 partial, (\d+) skipped",
                                               programs.run("05_flash_tiled_cpu", *options)).groups())
            accesses = cells_of(Path(programs.csv).read_text(encoding="utf-8"))[1][2]
            lines.append(f"{full} {full + skipped} {accesses}")
    return lines


def attention_map(programs):
    """query, key, weight, their words: the first 24 in head 0 of the real input. With V[j][j] = 1, else 0, element j of
    query i's output is the weight P[i][j].
    """
    ones, N, d, heads, show = 32, 164, 32, 8, 24
    values = [0.0] * (heads * N * d)
    for head in range(heads):
        for j in range(ones):
            values[head * N * d + j * (d + 1)] = 1.0
    header = Path("common/data/v.npy").read_bytes()[:128]
    v, p = f"{programs.data}/ones.npy", f"{programs.data}/p.npy"
    Path(v).write_bytes(header + struct.pack(f"<{len(values)}f", *values))
    programs.run("05_flash_tiled_cpu", "--q", "common/data/q.npy", "--k", "common/data/k.npy", "--v", v, "--output", p, "--quiet")
    weights = struct.unpack(f"<{show * d}f", Path(p).read_bytes()[128:128 + 4 * show * d])
    words = {}
    for line in Path("common/data/tokens.txt").read_text(encoding="utf-8").splitlines():
        text, place, word = (line.split() + ["", "", ""])[:3]
        if text == "0":
            words[place] = word
    return [f"{n // d} {n % d} {weight:.9g} {words[str(n // d)]} {words[str(n % d)]}"
            for n, weight in enumerate(weights) if n % d < show]


# ---- from the results that are kept -------------------------------------------------------------

def results_of(chapter, results=CPU_RESULTS):
    """One chapter's part of a CPU's results, with its peers."""
    return subprocess.run([sys.executable, "common/peers/peers.py", "get", chapter, results], capture_output=True, text=True,
                          check=True).stdout.splitlines()


def ladder_of(chapter):
    return [line.split(",") for line in results_of(chapter) if re.match(rf"{chapter},.*,f32,1,1,", line)]


def percent_of_peak(programs):
    return peak_lines(ladder_of("05"), lambda row: row[1], lambda row: "")


def backward_percent_of_peak(programs):
    rows = ladder_of("07")
    name = lambda row: f'"{row[1]}, {row[9]} thread{"" if row[9] == "1" else "s"}"'  # noqa: E731
    return peak_lines(rows, name, lambda row: f" {rows[-1][5]}")


def peak_lines(rows, name, more):
    percent, first = {}, {}
    for row in rows:
        first.setdefault(name(row), row)
        percent[name(row), row[6], row[7]] = six(100 * float(row[12]))
    return [" ".join([str(k), step] + [percent.get((step, d, causal), "NaN") for d in ("64", "128") for causal in "01"]) +
            more(row) for k, (step, row) in enumerate(first.items(), 1)]


def roofline(programs):
    """operations a byte, GFLOP/s on one core, and a name ("" if it would cover the one before). The steps have the
    accesses of fa2 with tiles of 32 queries and 128 keys.
    """
    def intensity(*step):
        row = programs.rows("05_flash_tiled_cpu", "--step", *step, "--n-q", 1024, "--d", 64, "--traffic")[0]
        return six(64 * 1024 * 1024 / int(row[2]))

    standard, fa2, steps = intensity("standard"), intensity("fa2"), intensity("fa2", "--br", 32, "--bc", 128)
    roof = [re.match(r"# one core: (.*) GFLOP.s of FMA, (.*) GB.s copied$", line) for line in results_of("05")]
    lines = [f"roof {found[2]} {found[1]}" for found in roof if found]
    points = []
    for row in ladder_of("05"):
        if row[6:8] == ["64", "0"] and row[9] == "1":
            x, y = {"standard": standard, "fa2": fa2}.get(row[1], steps), row[11]
            near = next((point for point in reversed(points) if point[2]), None)
            if points and points[-1][0] == x and float(y) < 1.25 * float(near[1]):
                near[2] += f", {row[1]}"
                points.append([x, y, ""])
            else:
                points.append([x, y, row[1]])
    return lines + [f'{x} {y} "{name}"' for x, y, name in points]


def time_against_n(programs):
    """causal, name, N, nanoseconds per pair: eight heads, d = 64, all cores."""
    rows = [line.split(",") for line in results_of("05", CPU_WITH_PEERS) if not line.startswith("#")]
    rows = [row for row in rows if row[4] != "1" and row[6] == "64"]
    most = max(int(row[9]) for row in rows)
    lines = []
    for row in rows:
        N = int(row[5])
        pairs = int(row[3]) * int(row[4]) * (N * (N + 1) / 2 if row[7] != "0" else N * N)
        if int(row[9]) == most:
            lines.append(f"{row[7]} {row[1].split()[0]} {N} {six(1e6 * float(row[10]) / pairs)}")
    return lines


def gpu_ladder(programs, chapter):
    """bf16 kernels without a mask at the largest measured N up to 8192. "# GPU", "#N d N", "# d backend TFLOP/s" of
    PyTorch's fastest backends; then place, name (with * if changed since), TFLOP/s for d = 128 and d = 64 (NaN: not
    measured), and 1 for mma, 2 for Hopper's units, 3 for all options.
    """
    names = programs.run(chapter, "--step", "list", "--quiet", "--dtype", "bf16").split()
    return gpu_lines(Path(f"{chapter}/results/nvidia_h200.csv"), [name for name in names if chapter[:2] == "06" or name.startswith("cuda_")])


def gpu_lines(path, kernels):
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    lines = ["# " + line[11:].split(",")[0] for line in text.splitlines() if line.startswith("# machine: ")]
    speed, largest, order, older = {}, {}, [], measured.older_code(path)
    for row in cells_of(text):
        if len(row) < 12 or row[2] != "bf16" or row[7] != "0" or int(row[5]) > 8192 or row[6] not in ("64", "128"):
            continue
        speed[row[1], row[6], int(row[5])] = six(float(row[11]) / 1000)
        if row[1] in kernels:
            order += [] if row[1] in order else [row[1]]
            largest[row[6]] = max(largest.get(row[6], 0), int(row[5]))

    def of(name, d):
        return speed.get((name, d, largest.get(d, 0)), "NaN")

    for d in ("128", "64"):
        if d in largest:
            lines.append(f"#N {d} {largest[d]}")
            lines += [f"# {d} {backend} {of(f'pytorch {backend}', d)}" for backend in ("flash", "cudnn")
                      if of(f"pytorch {backend}", d) != "NaN"]
    units = 1
    for k, name in enumerate(order, 1):
        units = 2 if name.endswith("wgmma") else units
        mark = "*" if {(name, "64"), (name, "128")} & older else ""
        lines.append(f"{k} {name}{mark} {of(name, '128')} {of(name, '64')} {3 if name.endswith('complete') else units}")
    return lines


def gpu_time_against_n(programs):
    gpu, times = measured.curve()
    return [f"# {gpu}"] + [f"{kernel} {n} {six(ms)}" for kernel, n, ms in times]


# ---- chapter 06 ---------------------------------------------------------------------------------

def cuda_accesses(programs):
    """kernel N accesses; and 05's standard attention with tiles for as much fast memory."""
    lines = []
    for N in (64, 128, 256):
        for row in programs.rows("06_flash_tiled_cuda", "--device", "cpu", "--step", "all", "--n-q", N, "--d", 64):
            lines.append(f"{row[1]} {N} {row[7]}")
        for row in programs.rows("05_flash_tiled_cpu", "--step", "standard", "--n-q", N, "--d", 64, "--sram", 12288, "--traffic"):
            lines.append(f"standard {N} {row[2]}")
    return lines


def grid(programs):
    """kernel, tile of keys, tile of queries, thread block, when: 4 by 8 tiles of a head."""
    return [line for i in range(4) for j in range(8) for line in (f"fa1 {j} {i} 0 {4 * j + i + 1}", f"fa2 {j} {i} {i} {j + 1}")]


def lanes(programs):
    """key, row, lane: as in kernels/parts/registers.cuh."""
    return [f"{key} {row} {row % 4 * 8 + key % 8}" for row in range(16) for key in range(32)]


def memories(programs):
    """level, half its width, name, owner, size, size on this machine, from results/device.csv."""
    def size(n):
        n = float(n)
        return f"{n / 1e3:.0f} kB" if n < 1e6 else f"{n / 1e6:.1f} MB" if n < 1e9 else f"{n / 1e9:.1f} GB"

    text = Path("06_flash_tiled_cuda/results/device.csv").read_text(encoding="utf-8")
    of = {(row[0], row[1]): row[2] for row in cells_of(text) if len(row) > 2}
    whole = lambda *key: f"{float(of[key]):.0f}"  # noqa: E731
    return [line for line in text.splitlines() if line.startswith("# machine")] + ["\t".join(cells) for cells in (
        ("1", "2.6", "registers", "a thread's", "as many as the compiler needs",
         f"the core: {whole('core', 'GFLOP/s of multiplying and adding')} GFLOP/s; as a GPU, "
         f"{whole('cpu', 'GFLOP/s of a kernel that multiplies and adds')} on all cores"),
        ("2", "3.7", "shared memory", "a block's", size(of["cpu", "bytes of shared memory a block"]) + " a block",
         f"the caches of a core: {size(of['core', 'bytes of L1 cache'])} of L1, {size(of['core', 'bytes of L2 cache'])} of L2"),
        ("3", "4.8", "global memory", "everybody's", size(of["cpu", "bytes of global memory"]),
         f"the machine's: a core copies {whole('core', 'GB/s of copying')} GB/s; as a GPU, "
         f"{whole('cpu', 'GB/s of a kernel that copies')} GB/s on all cores"))]


def fragments(programs):
    """x, y, lane: as in common/cuda/tensor.h; A at x = 0, B at 19, C at 30."""
    lines = []
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for which in range(2):
            lines += [f"{2 * t + 8 * (r // 2) + which} {g + 8 * (r % 2)} {lane}" for r in range(4)]
            for r in range(2):
                lines += [f"{19 + g} {2 * t + 8 * r + which} {lane}", f"{30 + 2 * t + which} {g + 8 * r} {lane}"]
    return lines


def fragments_k8(programs):
    """x, y, lane: the same of mma_k8; A from x = 0 on, B from 10, C from 20."""
    return [f"{x} {y} {lane}" for lane in range(32) for g, t in [divmod(lane, 4)] for which in range(2)
            for x, y in ((2 * t + which, g), (2 * t + which, g + 8), (10 + g, 2 * t + which),
                         (20 + 2 * t + which, g), (20 + 2 * t + which, g + 8))]


def swizzle(programs):
    """x, row, chunk: as in kernels/parts/swizzle.cuh; plain at x = 0, swizzled at 10."""
    return [line for row in range(8) for chunk in range(8)
            for line in (f"{chunk} {row} {chunk}", f"{10 + (chunk ^ row)} {row} {chunk}")]


# ---- chapter 07 ---------------------------------------------------------------------------------

def backward_against_m(programs):
    return [f"{row[1]} {M} {row[4]}" for M in (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
            for row in programs.rows("07_backward", "--step", "all", "--n-q", 256, "--d", 32, "--sram", M, "--quiet")
            if row[4]]


def loss_curves(programs):
    return [" ".join(row) for row in programs.rows("07_backward", "--train", "--quiet")]


def products(programs):
    """A rectangle for each operand and result, with Br = 5, Bc = 9 and d = 6, and an operator next to it."""
    Br, Bc, d = 5, 9, 6
    lines = []
    for x, y, a, a_rows, a_cols, a_of, b, b_rows, b_cols, b_of, c, c_of in (
            (1, 1, "Q", Br, d, "query", "K^T", d, Bc, "key", "S", "pair"),
            (40, 1, "dO", Br, d, "query", "V^T", d, Bc, "key", "dP", "pair"),
            (1, 12, "P^T", Bc, Br, "pair", "dO", Br, d, "query", "dV", "key"),
            (40, 12, "dS^T", Bc, Br, "pair", "Q", Br, d, "query", "dK", "key"),
            (1, 24, "dS", Br, Bc, "pair", "K", Bc, d, "key", "dQ", "query")):
        lines.append(f"{six(x)} {y} {a_cols} {a_rows} {a_of} {a} {six(x + a_cols + 1.2)} {six(y + 2.5)} ×")
        x += a_cols + 2.4
        lines.append(f"{six(x)} {y} {b_cols} {b_rows} {b_of} {b} {six(x + b_cols + 1.2)} {six(y + 2.5)} =")
        x += b_cols + 2.4
        lines.append(f'{six(x)} {y} {b_cols} {a_rows} {c_of} {c} {six(x)} {y} " "')
    return lines


def dS(programs):
    """x, y, lane, from lane 9: dS^T as mma leaves it and, at x = 20, dS as mma needs it for dQ (common/cuda/tensor.h).
    """
    of = {}
    for lane in range(32):
        for r in range(4):
            for which in range(2):
                of[2 * (lane % 4) + 8 * (r // 2) + which, lane // 4 + 8 * (r % 2)] = lane
    return [line for x in range(16) for y in range(16) for line in (
        f"{x} {y} {of[x, y]} {int(of[x, y] == 9)}", f"{20 + x} {y} {of[x, y]} {int(of[y, x] == 9)}")]
