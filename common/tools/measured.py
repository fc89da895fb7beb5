"""measured.py - the pages' tables of measurements: NN_chapter/results/GPU.csv, common/results/*.csv."""
import os
import re
import subprocess
import tempfile
from pathlib import Path


class Failed(Exception):
    """An error message for standard error."""


def output_of(*command):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-10:])
        raise Failed(f"'{' '.join(command)}' ended with status {done.returncode}\n{last}")
    return done.stdout


def home_of(chapter):
    found = sorted(Path(".").glob(f"{chapter}_*"))
    if not found:
        raise Failed(f"expected a folder {chapter}_… here: this runs in the course's folder")
    return found[0]


def lines_of(path):
    try:
        return Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        raise Failed(f"{path}: expected a file of results") from None


def tera(gflops):
    return f"{gflops / 1000:.{1 if gflops < 99950 else 0}f}"


def source(path, link, notes):
    """Which GPU, by which command, when; "" if the file is not a benchmark's. Adds notes, such as "# PyTorch: an hour
    before", whose name matches `notes`.
    """
    machine = toolkit = command = added = ""
    for line in lines_of(path):
        name, _, text = line.partition(": ")
        if name == "# machine":
            machine = text.split(": ")[0].replace(", ", ", driver ", 1)
        elif name == "# toolkit":
            toolkit = text
        elif line.startswith(("# command: make bench-", "# command: make gpu,")):
            what, day, commit = text.split(", ")[:3]
            command = f"`{what}`, {day}, {commit}"
        if re.match(f"# ({notes}|older): ", line):
            added += f" {line[2:]}."
    if not command:
        return ""
    return f"{machine}, {toolkit}; {command}. All figures: [`{Path(path).name}`]({link}).{added}"


TITLE = ("chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,milliseconds,gflops,peak_fraction,ratio_previous,"
         "max_abs_error")


def put(folder):
    """Copies results of `make gpu` into the chapters' results: they replace rows of the same problem and kernel, with
    the better of PyTorch's two turns. Other rows stay, with their checksums and date.
    """
    stages = [Path(folder) / stage for stage in ("headline", "older", "curve")]
    stages = {path.name: lines_of(path) for path in stages if path.exists()}
    if not stages:
        raise Failed(f"{folder}: expected headline, older or curve, as `make gpu` writes them")
    if "curve" in stages:
        CURVE.write_text("\n".join(stages.pop("curve")) + "\n")
    for chapter in ("06", "07"):
        new = [line.split(",") for lines in stages.values() for line in lines if line.startswith(f"{chapter},")]
        if new:
            put_chapter(chapter, new, [line for line in next(iter(stages.values())) if line.startswith("# ")])


def put_chapter(chapter, new, head):
    said = dict(line[2:].split(": ", 1) for line in head if ": " in line)
    results = home_of(chapter) / "results"
    path = results / (re.sub("[^a-z0-9]+", "_", said["machine"].split(",")[0].lower()) + ".csv")
    before = lines_of(path) if path.exists() else []
    rows = {tuple(line.split(",")[:8]): line.split(",") for line in before if line.startswith(f"{chapter},")}
    measured = {}
    for row in new:
        other = measured.get(tuple(row[:8]), row)
        best = min(row, other, key=lambda one: float(one[10]))
        measured[tuple(row[:8])] = [*best[:14], row[14] or other[14]]
    codes, table, now = codes_of(before), results / "sass.txt", {}
    if table.exists() and lines_of(table)[0].split()[2:3] == [said["toolkit"].split()[1]]:
        now = checksums(line.split() for line in lines_of(table) if line.split()[2:3] == ["90a"])
    for kernel in ((row[1], row[6]) for row in new):
        codes.pop(kernel, None)
        codes.update({kernel: now[kernel]} if kernel in now else {})
    kept = rows.keys() - measured.keys()
    earlier = [line[2:].split(": ", 1)[1] for line in before if line.startswith(("# command: ", "# older: "))]
    rows.update(measured)

    def order(row):
        return row[1].startswith("pytorch"), row[2] != "f32", int(row[5]), int(row[6]), row[7]
    lines = [f"# {name}: {said[name]}" for name in ("machine", "toolkit", "command", "just after it")]
    lines += [f"# older: what was not measured then is of {'; '.join(earlier)}"] if kept else []
    lines += ["# code: " + ", ".join(f"{name} {d} {code}" for (name, d), every in codes.items() for code in every)] if codes else []
    lines += ["# ratio_previous: against the kernel before", TITLE, *(",".join(row) for row in sorted(rows.values(), key=order))]
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(measured)} rows measured, {len(kept)} kept")


def results_of(chapter):
    """The chapter's results on $GPU, nvidia_h200 by default; None if there are none."""
    path = home_of(chapter) / "results" / (os.environ.get("GPU", "nvidia_h200") + ".csv")
    return path if path.exists() else None


def codes_of(lines):
    """From "# code: NAME D CHECKSUM, NAME …": (kernel, d) -> its code's checksums, one for each tile."""
    listed = "".join(line[len("# code: "):] + ", " for line in lines if line.startswith("# code: "))
    return checksums(entry.split() for entry in listed.split(", ") if entry)


def checksums(rows):
    found = {}
    for row in rows:
        found.setdefault((row[0], row[1]), []).append(row[-1])
    return found


def older_code(path):
    """The measured kernels and d whose machine code has changed since."""
    measured = codes_of(lines_of(path))
    table = Path(path).parent / "sass.txt"
    rows = [line.split() for line in lines_of(table)] if table.exists() else []
    now = checksums(row for row in rows if row[0] != "#" and row[2] == "90a")
    return {kernel for kernel in {*measured, *now} if measured.get(kernel) != now.get(kernel)}


OLDER = " (older code)"


def if_older(chapter, text, *kernels):
    """The text, if one of these kernels ("name d"; none: any) has changed since it was measured."""
    path = results_of(chapter)
    older = {" ".join(kernel) for kernel in older_code(path)} if path else set()
    return [text] if older & set(kernels or older) else []


CURVE = Path("06_flash_tiled_cuda/results/time_against_n.csv")


def curve():
    """GPU, and (kernel, N, milliseconds) of naive and fa2 in float32, from `make gpu`; empty before that."""
    gpu, times = "", []
    for line in lines_of(CURVE) if CURVE.exists() else []:
        if line.startswith("# machine: "):
            gpu = line[len("# machine: "):].split(",")[0]
        row = line.split(",")
        if len(row) == 3 and row[1].isdigit():
            times.append((row[0], int(row[1]), float(row[2])))
    return gpu, times


def curve_picture(path):
    _, times = curve()
    if not times:
        return []
    most = max(n for _, n, _ in times)
    naive, fa2 = ([ms for kernel, n, ms in times if (kernel, n) == (name, most)][0] for name in ("naive", "fa2"))
    return [f"![Time on a GPU against text length, both axes logarithmic: for {most} words the plain formula takes {naive:.3g} ms, "
            f"and FlashAttention-2 {fa2:.3g} ms]({path})"]


FRONT_D, FRONT_N = "128", "4096"
FRONT_BARS = (("all scores stored", "naive", "f32"), ("tile by tile", "fa2", "f32"), ("16-bit matrix units", "mma", "bf16"),
              ("made for this GPU", "persistent", "bf16"), ("NVIDIA's library", "pytorch cudnn", "bf16"))


def front_bars():
    path, gpu, found = results_of("06"), "", {}
    for line in lines_of(path):
        row = line.split(",")
        if line.startswith("# machine: "):
            gpu = row[0][len("# machine: "):]
        if len(row) > 11 and row[5:8] == [FRONT_N, FRONT_D, "0"]:
            found[row[1], row[2]] = float(row[11]) / 1000
    for _, *bar in FRONT_BARS:
        if tuple(bar) not in found:
            raise Failed(f"{path}: expected a row of {' in '.join(bar)}, d = {FRONT_D}, N = {FRONT_N}, no mask")
    return f"{gpu}, {FRONT_N} words, values of {FRONT_D} numbers, no mask", [(name, found[kernel, kind]) for name, kernel, kind in FRONT_BARS]


def front_picture(path):
    problem, bars = front_bars()
    return [f"![A bar chart of speed in TFLOP/s ({problem}): " + ", ".join(f"{name} {value:.3g}" for name, value in bars) + f"]({path})"]


def speed_source(chapter, folder="../results"):
    path = results_of(chapter)
    return [source(path, f"{folder}/{path.name}", "bf16|PyTorch")] if path else ["Not measured yet."]


def speed(chapter, kind, problems, kernels):
    """In TFLOP/s. problems: d,N or d,N,causal, separated by spaces; a kernel may be "pytorch cudnn"."""
    path, measured, problems = results_of(chapter), {}, [problem.split(",") for problem in problems.split()]
    older = older_code(path) if path else set()
    for line in lines_of(path) if path else []:
        row = line.split(",")
        if len(row) > 11 and row[2] == kind:
            problem = (row[6], row[5], "causal") if row[7] == "1" else (row[6], row[5])
            measured[(row[1],) + problem] = float(row[11] or 0)
    table = ["| kernel |" + "".join(f" d = {d}, N = {', '.join(rest)} |" for d, *rest in problems),
             "|---|" + "---|" * len(problems)]
    for kernel in kernels:
        name = f"PyTorch, {kernel[8:]}" if kernel.startswith("pytorch ") else f"`{kernel}`"
        cells = []
        for problem in problems:
            figure, mark = measured.get((kernel, *problem)), OLDER if (kernel, problem[0]) in older else ""
            cells.append("not measured yet" if figure is None else tera(figure) + mark)
        table.append(f"| {name} | " + " | ".join(cells) + " |")
    if any(OLDER in row for row in table):
        table += ["", "Older code: the kernel's machine code has changed since; as it is now it is not measured yet."]
    return table


def best_of(paths):
    """For each problem (GPU, chapter, type, d, N, causal): the fastest kernel and PyTorch's fastest backend, each
    (GFLOP/s, name, "" or a mark for older code), or None.
    """
    best = {}
    for path in paths:
        gpu, older = "", older_code(path)
        for line in lines_of(path):
            row = line.split(",")
            if line.startswith("# machine: "):
                gpu = row[0][len("# machine: "):]
            if line.startswith(("#", "chapter,")) or len(row) < 12 or not float(row[11] or 0) > 0:
                continue
            peer = row[1].startswith("pytorch ")
            found = best.setdefault((gpu, row[0], row[2], row[6], row[5], row[7]), [None, None])
            if not found[peer] or float(row[11]) > found[peer][0]:
                mark = OLDER if (row[1], row[6]) in older else ""
                found[peer] = float(row[11]), row[1][8:] if peer else row[1], mark
    return [(problem, kernel, backend) for problem, (kernel, backend) in best.items() if kernel]


def pass_and_type(chapter, kind):
    return f"{'forward' if chapter == '06' else 'backward'} | {'float32' if kind == 'f32' else kind}"


def best_page(paths):
    table = ["| GPU | pass | type | d | N | mask | fastest kernel | TFLOP/s | PyTorch: fastest backend | "
             "TFLOP/s | times as fast |", "|" + "---|" * 11]
    for (gpu, chapter, kind, d, n, causal), kernel, backend in best_of(paths):
        peer, mask = "not measured yet | |", "causal" if causal == "1" else "none"
        if backend:
            peer = f"{backend[1]} | {tera(backend[0])} | {kernel[0] / backend[0]:.2f}"
        table.append(f"| {gpu} | {pass_and_type(chapter, kind)} | {d} | {n} | {mask} | `{kernel[1]}` | "
                     f"{tera(kernel[0])}{kernel[2]} | {peer} |")
    for path in paths:  # the page is two folders deep
        line = source(path, f"../../{path}", "bf16|PyTorch|N = [0-9]+.*")
        table += ["", line] if line else []
    return table


def best_summary(paths):
    groups = {}
    for (gpu, chapter, kind, *_), kernel, backend in best_of(paths):
        speeds, ratios, marks = groups.setdefault(f"| {gpu} | {pass_and_type(chapter, kind)}", ([], [], set()))
        speeds.append(kernel[0])
        ratios += [kernel[0] / backend[0]] if backend else []
        marks |= {kernel[2]}
    return ["| GPU | pass | type | fastest kernel, TFLOP/s | times as fast as PyTorch |",
            "|---|---|---|---|---|"] + [
        f"{group} | {tera(min(speeds))} to {tera(max(speeds))}{max(marks)} | {least_most(ratios)} |"
        for group, (speeds, ratios, marks) in groups.items()]


def least_most(ratios, unit=""):
    return f"{min(ratios):.2f} to {max(ratios):.2f}{unit}" if ratios else "not measured yet"


def peers_of(chapter, folder):
    ratios = []
    for path in sorted(Path(folder).glob("*.csv")):
        part = ""
        for line in lines_of(path):
            if line.startswith("# part: "):
                part = line[len("# part: "):]
            row = line.split(",")
            if part == chapter and row[0] == "peer" and row[1].startswith("PyTorch"):
                ratios.append(float(row[13] or 0))
    return least_most(ratios, " times as fast")


# Each chapter's title, accesses, extra memory, and program arguments. Two threads, because extra memory may depend on
# them.
CHAPTERS = {
    "01_standard_softmax": ("standard softmax", "3 N / row", ""),
    "02_safe_softmax": ("safe softmax", "4 N / row", ""),
    "03_online_softmax": ("online softmax", "3 N / row", ""),
    "04_flash_no_tiling": ("no tiling", "2 N²d + 2 Nd", "O(d) / row"),
    "05_flash_tiled_cpu": ("tiled, on the CPU", "Θ(N²d²/M)", "O(N)", "--threads", "2"),
    "06_flash_tiled_cuda": ("tiled, in CUDA", "Θ(N²d²/M)", "O(N)", "--device", "cpu"),
    "07_backward": ("backward", "Θ(N²d²/M)", "O(N)", "--threads", "2"),
}


def chapters(build, folder="common/results"):
    table = ["| chapter | accesses | extra memory | error | against PyTorch |", "|---|---|---|---|---|"]
    if not os.access(f"{build}/07_backward", os.X_OK):
        raise Failed(f"expected the folder of what is built, found '{build}'")
    for chapter, (title, formula, memory, *more) in CHAPTERS.items():
        with tempfile.TemporaryDirectory() as work:
            output_of(f"{build}/{chapter}", "--quiet", *more, "--csv", f"{work}/csv")
            _, _, accesses, kept, _, error = lines_of(f"{work}/csv")[1].split(",")[:6]
        kept = int(kept)
        kept = f"{kept} B" if 0 < kept < 10000 else f"{kept / 1000:.0f} kB" if kept else "none"
        if memory and kept != "none":
            kept = f"{memory}: {kept}"
        against = "–"
        if chapter.startswith("06"):
            rows = best_of(sorted(Path(".").glob("06_*/results/*.csv")))
            against = least_most([kernel[0] / peer[0] for _, kernel, peer in rows if peer], " times as fast")
        elif chapter.startswith(("05", "07")):
            against = peers_of(chapter[:2], folder)
        table.append(f"| [{chapter[:2]} {title}](../../{chapter}/README.md) | "
                     f"{formula}: {spaced(int(accesses))} | {kept} | {float(error):.0e} | {against} |")
    return table


def spaced(number):
    return f"{number:,}".replace(",", " ")
