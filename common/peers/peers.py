#!/usr/bin/env python3
"""peers.py - measurements of this machine, and tables of them for pages.

    peers.py measure BUILD CHAPTER     the chapter's ladder, and its best step against the libraries
    peers.py resident BUILD FILE       peak memory of the steps of 05 and 07, into FILE
    peers.py get PART FILE             one part of a file, unchanged
    peers.py ladder|peers PART FILE    a part as a table
    peers.py machines|memory FILE...   tables of the measurements, and of peak memory

Each machine has one file, common/results/MACHINE.csv: a CSV header, then parts (05, 07, memory), each after "# part: PART" and
lines with # that give place, date and command. Measuring a part again replaces it.

Libraries are installed from PyPI into BUILD/peers/python only; unavailable ones are skipped with a message. Environment:
SIZES, the N of the problems; PYTHON, an interpreter that already has numpy and torch or another library; INTO, another
output file; TARGET, make's target.
"""
import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

PARTS = ("05", "07", "memory")
NAMES = ("chapter,kernel,dtype,batch,heads,n,d,causal,direction,threads,milliseconds,gflops,peak_fraction,ratio_previous,"
         "max_abs_error,runs")
LIBRARIES = {"oneDNN": ("onednn", "onednn-cpu-gomp", "libdnnl.so*"),  # its word for `composed`, its package, its file
             "OpenBLAS": ("openblas", "scipy-openblas32", "scipy_openblas32/*/libscipy_openblas*.so")}
MODULES = {"PyTorch": ("torch",), "ONNX Runtime": ("onnxruntime", "onnx"), "OpenVINO": ("openvino",)}


class Refused(Exception):
    """A line for standard error; the status is 2, or the number after it."""


# ---- files --------------------------------------------------------------------------------------

def lines_of(path):
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    if lines[:1] != [NAMES]:
        raise Refused(f"{path}: expected results as make results writes them")
    return lines[1:]


def part_of(lines, part):
    found, on = [], False
    for line in lines:
        if line.startswith("# part: "):
            on = line == f"# part: {part}"
        elif on:
            found.append(line)
    return found


def put(part, path, lines):
    had = lines_of(path) if Path(path).exists() else []
    parts = {name: lines if name == part else part_of(had, name) for name in PARTS}
    text = [NAMES, *(line for name, kept in parts.items() if kept for line in (f"# part: {name}", *kept))]
    new = Path(f"{path}.new")
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_text("\n".join(text) + "\n", encoding="utf-8")
    new.replace(path)
    print(f"wrote part {part} of {path}")


def rows_of(lines):
    return [line.split(",") for line in lines if not line.startswith("#")]


def said(lines, key):
    return next((line[len(key) + 4:] for line in lines if line.startswith(f"# {key}: ")), "")


# ---- tables -------------------------------------------------------------------------------------

def ladder(lines):
    rows = [row for row in rows_of(lines) if row[4] == "1"]
    cells = {(row[1], row[9], row[6], row[7]): f"{float(row[11]):.1f} {100 * float(row[12]):5.1f} %" for row in rows}
    yield f"one head, N = {rows[-1][5]}; GFLOP/s, and of the peak of so many cores" if rows else ""
    yield f"{'kernel':<12}{'threads':>7} {'d 64':>16} {'causal':>16} {'d 128':>16} {'causal':>16}"
    for kernel, threads in dict.fromkeys((row[1], row[9]) for row in rows):
        shown = [cells.get((kernel, threads, d, causal), "-") for d in ("64", "128") for causal in "01"]
        yield f"{kernel:<12}{threads:>7} " + " ".join(f"{cell:>16}" for cell in shown)


def peers(lines):
    rows = [row for row in rows_of(lines) if int(row[4]) > 1]
    names = {row[1].split()[0]: row[1] for row in reversed(rows) if row[1] != "complete"}
    names = {row[1].split()[0]: names[row[1].split()[0]] for row in rows if row[1] != "complete"}
    problems = dict.fromkeys((row[6], row[7], row[5]) for row in rows)
    at = {(row[1].split()[0], row[6], row[7], row[5], row[9]): row for row in rows}
    for threads in dict.fromkeys(row[9] for row in rows):
        yield f"{rows[0][4]} heads, {'one thread' if threads == '1' else threads + ' threads':<9}"
        yield f"{'d':>4} {'':<7}{'N':>6}  {'of peak':>9}" + "".join(f"{name:>9}" for name in names)
        for d, causal, n in problems:
            ratios = [at.get((name, d, causal, n, threads), [0] * 16)[13] or 0 for name in names]
            best = at.get(("complete", d, causal, n, threads), [0] * 16)
            yield (f"{d:>4} {'causal' if causal == '1' else '':<7}{n:>6}  {100 * float(best[12]):7.1f} %"
                   + "".join(f"{float(ratio):9.2f}" for ratio in ratios))
    yield "; ".join(names.values())


def table(kind, part, path):
    lines = part_of(lines_of(path), part)
    shown = list((ladder if kind == "ladder" else peers)(lines)) if rows_of(lines) else []
    if len(shown) < 3:
        raise Refused(f"{path}, part {part}: expected what make peers writes, found no rows for this table")
    print("\n".join([*shown, *(line[2:] for line in lines if line.startswith("#"))][:len(shown) + 2]))


def machines(*files):
    print("| machine | pass | `complete` of the peak | times as fast as PyTorch | ONNX Runtime | OpenVINO | oneDNN | OpenBLAS | command |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in files:
        for part, direction in ("05", "forward"), ("07", "backward"):
            lines = part_of(lines_of(path), part)
            if not lines:
                continue
            rows = rows_of(lines)
            peaks = [100 * float(row[12]) for row in rows if row[1] == "complete" and int(row[4]) > 1] or [0]
            cells = []
            for name in "PyTorch", "ONNX", "OpenVINO", "oneDNN", "OpenBLAS":
                ratios = [float(row[13]) for row in rows if row[0] == "peer" and row[1].split()[0] == name and row[13]]
                none = "–" if direction == "backward" and name in ("ONNX", "OpenVINO") else "not measured yet"
                cells.append(f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else none)
            command, *when = said(lines, "command").split(", ")
            print("| " + " | ".join([said(lines, "machine").split(", Linux")[0], direction, f"{min(peaks):.0f} to {max(peaks):.0f} %",
                                     *cells, ", ".join([f"`{command}`", *when])]) + " |")


def memory(*files):
    found = [lines for lines in (part_of(lines_of(path), "memory") for path in files) if lines]
    for lines in found:
        rows = rows_of(lines)
        peak = {(row[1], row[5]): int(row[15].split()[0]) / 1e6 for row in rows}
        steps = dict.fromkeys(row[1] for row in rows)
        print(f"{'N, one head, d = 64':<24}" + "".join(f"{step:>16}" for step in steps))
        for n in dict.fromkeys(row[5] for row in rows):
            print(f"{n:<24}" + "".join(f"{peak.get((step, n), 0):13.1f} MB" for step in steps))
        print("\n".join(line[2:] for line in lines if line.startswith("#")))
    if not found:
        print("not measured yet")


# ---- measuring ----------------------------------------------------------------------------------

def sizes():
    asked = os.environ.get("SIZES", "128 256 512 1024 2048 4096")
    if not re.fullmatch(r" *[1-9]\d*( +[1-9]\d*)* *", asked):
        raise Refused(f"SIZES: expected numbers of queries, as in \"128 2048\", found '{asked}'")
    return asked.split()


def need(*programs):
    for program in programs:
        if not os.access(program, os.X_OK):
            raise Refused(f"expected {program}: make build-peers makes it")


def output_of(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True).stdout


def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def head(machine, command):
    # Results and pages from earlier parts of this run are no changes.
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    same = git("diff", "--quiet", "HEAD", "--", ".", ":!common/results", ":!*.md", ":!*.svg") is not None
    asked = f'SIZES="{os.environ["SIZES"]}" ' if os.environ.get("SIZES") else ""
    return [f"# machine: {machine}", f"# command: {asked}make {os.environ.get('TARGET') or command}, {datetime.date.today()}, "
            f"at commit {commit}{'' if same else ' and changes'}"]


def fetched(venv, package, log):
    """Installs the package into the private folder, once."""
    pip = venv / "bin/pip"
    for command in ([sys.executable, "-m", "venv", venv] if not pip.exists() else ["true"],
                    [pip, "install", "-q", "--disable-pip-version-check", package]):
        with log.open("w") as said_there:
            try:
                if subprocess.run(command, stdout=said_there, stderr=said_there).returncode:
                    return False
            except OSError:
                return False
    return True


def skip(name, why):
    print(f"skipped: {name} ({why})")


def commands_of_peers(folder, part):
    venv, log, found = folder / "python", folder / "log", []
    for name, (word, package, pattern) in LIBRARIES.items():
        files = sorted(venv.rglob(pattern)) if fetched(venv, package, log) else []
        if files:  # a forced core type would select another processor's code
            found.append(f"env -u OPENBLAS_CORETYPE {folder / 'composed'} {word} {files[0]}")
        else:
            skip(name, f"the package {package} could not be installed")
    for name, packages in MODULES.items():
        if part != "05" and name != "PyTorch":
            continue  # the others compute no gradients
        modules, python = ("numpy", *packages), os.environ.get("PYTHON")
        ask = ["-c", f"import {', '.join(modules)}"]
        if not python or subprocess.run([python, *ask], capture_output=True).returncode:
            python = venv / "bin/python"
            if not all([fetched(venv, module, log) for module in modules]):
                skip(name, f"the packages {' '.join(modules)} could not be installed")
                continue
        done = subprocess.run([python, *ask], capture_output=True, text=True)
        if done.returncode:
            skip(name, done.stderr.strip().split("\n")[-1])
        else:
            found.append(f"{python} common/peers/peer.py {name.split()[0].lower().replace('onnx', 'onnxruntime')}")
    return found


def measure(build, chapter):
    part, folder, problem = chapter.split("_")[0], Path(build, "peers"), sizes()
    need(Path(build, chapter), folder / chapter, folder / "referee")
    (folder / "problem").mkdir(parents=True, exist_ok=True)
    others = commands_of_peers(folder, part)
    printed = output_of(Path(build, chapter), "--bench", "--csv", folder / "ladder.csv")
    lines = output_of(folder / "referee", part, folder / "problem", " ".join(problem), folder / chapter, *others).splitlines()
    machine, speed = printed.strip().split("\n")[-1].strip().split("; ", 1)
    slug = re.sub("[^a-z0-9]+", "_", machine.split(", Linux")[0].lower()).strip("_")
    steps = [line + "," for line in (folder / "ladder.csv").read_text().splitlines()[1:]]
    path = os.environ.get("INTO") or f"common/results/{slug}.csv"
    put(part, path, [*head(machine, f"peers-{part}"), f"# {speed}",
                     "# rows of 1 head are the ladder, ratio_previous against the step before; of 8 heads, peers in turn,",
                     "# ratio_previous how many times as fast as that peer complete is. Peak: of the FMA peak of so many cores.",
                     *steps, *lines])
    (folder / "written").write_text(f"{path}\n")
    table("peers", part, path)
    if any(float(row[12] or 0) > 1 for row in rows_of([*steps, *lines])):
        print("some are above 100 % of the peak: something else was running; measure again")


def resident(build, path):
    problem, rows = sizes(), []
    need(Path(build, "peers/resident"), Path(build, "05_flash_tiled_cpu"), Path(build, "07_backward"))
    machine = said(part_of(lines_of(path), "05"), "machine")
    if not machine:
        raise Refused(f"{path}: expected a part 05, which says what machine this is")
    for n in problem:
        for chapter, direction in ("05_flash_tiled_cpu", "forward"), ("07_backward", "backward"):
            for step in "standard", "fa2", "complete":
                name = f"{chapter[:2]}/{step}"
                try:
                    printed = output_of(Path(build, "peers/resident"), Path(build, chapter), "--quiet", "--step", step,
                                        "--n-q", n, "--d", 64, "--threads", 1)
                except subprocess.CalledProcessError:
                    raise Refused(f"{name} with N = {n} did not end well", 1) from None
                rows.append(f"memory,{name},f32,1,1,{n},64,0,{direction},1,,,,,,{printed.split()[0]} bytes")
    put("memory", path, [*head(machine, "results"),
                         "# the most memory that the whole program had, with its input and what it is checked against", *rows])
    memory(path)


def get(part, path):
    for line in part_of(lines_of(path), part):
        print(line)


def main(arguments):
    commands = {"measure": measure, "resident": resident, "get": get, "machines": machines, "memory": memory,
                "ladder": lambda *of: table("ladder", *of), "peers": lambda *of: table("peers", *of)}
    command, *rest = arguments or [""]
    right = len(rest) > 0 if command in ("machines", "memory") else len(rest) == 2
    try:
        if command not in commands or not right:
            raise Refused(f"expected {', '.join(commands)}, and a part and a file, or files; found '{' '.join(arguments)}'")
        if command in ("get", "ladder", "peers") and rest[0] not in PARTS:
            raise Refused(f"expected one of these parts: {' '.join(PARTS)}; found '{rest[0]}'")
        commands[command](*rest)
    except Refused as refused:
        print(f"peers.py: {refused.args[0]}", file=sys.stderr)
        return (*refused.args, 2)[1]
    except (OSError, subprocess.CalledProcessError) as failed:
        print(f"peers.py: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
