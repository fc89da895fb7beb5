"""figures.py - makes, checks and prints the tables of measured and compiled figures.

    course.py figures check                   checks the kernels' machine code (sass.py) and the committed tables,
                                              NN_…/results/sass.txt. Another nvcc is only reported
    course.py figures make                    writes these tables
    course.py figures table NN ROWS [WITHOUT...]         rows of one that begin with a pattern, without some columns
    course.py figures speed NN TYPE PROBLEMS KERNEL...   measured GPU speed in TFLOP/s
    course.py figures speed NN machine [FOLDER]          the line below it: GPU, date, command
    course.py figures best page|summary FILE...          the fastest kernels against PyTorch's backends
    course.py figures front PICTURE                      the front page's picture, with its figures in words
    course.py figures put FOLDER                         copies results of `make gpu` into the chapters' results
    course.py figures chapters BUILD [FOLDER]            a row per chapter: counts, error and speed

PROBLEMS are d,N or d,N,causal, separated by spaces. FOLDER has the results.
"""
import difflib
import math
import re
import sys

import measured
import sass
from measured import Failed

# The columns for each kind of kernel after kernel, d and arch. Instructions are a tile's; for chapter 07's Hopper
# kernels, whose warps may have roles, the whole code's.
HEADINGS = {
    "06 float32": "registers shared_memory",
    "06 tensor_cores": "Br,Bc registers HMMA LDSM LDGSTS MUFU float32 others",
    "06 hopper": "Br,Bc registers HGMMA UTMALDG SYNCS MUFU float32 others under_a_product checksum",
    "07 tensor_cores": "registers HMMA LDSM MUFU.EX2 RED",
    "07 hopper": "registers HGMMA UTMALDG SYNCS MUFU.EX2 RED UTMAREDG a_round checksum",
}
FLOAT32 = "FFMA|FMUL|FADD|FMNMX|FSEL|FSETP"


def row(f):
    def count(opcodes):
        return sass.measure(f, f"{opcodes} {'in the code' if f.unit == '07 hopper' else 'a tile'}")
    name = f.name if f.unit in ("06 float32", "07 tensor_cores") else re.sub("_tiles?$", "", f.name)
    name = f"cuda_{name}" if f.unit == "07 hopper" else f"{name}/16" if (name, f.columns) == ("mma_tile", 16) else name
    cells = {"Br,Bc": f"{16 * math.prod(f.numbers[2:4])},{f.columns}", "registers": f.registers,
             "shared_memory": f.shared, "float32": count(FLOAT32), "RED": count(sass.ATOMIC), "checksum": f.checksum(),
             "others": sum(f.times) - count(f"HMMA|HGMMA|LDSM|LDGSTS|UTMALDG|SYNCS|MUFU|{FLOAT32}")}
    if f.unit == "06 hopper":  # one thread loads, maybe in its own loop
        cells["UTMALDG"] = max(len(f.places("UTMALDG", loop)) for loop in f.loops)
        cells["under_a_product"] = sass.under_a_product(f, "MUFU.EX2")
    if f.unit == "07 hopper":
        cells["a_round"] = sass.in_a_round(f, "")
    cells = [cells.get(heading, count(heading)) for heading in HEADINGS[f.unit].split()]
    return " ".join(map(str, (name, f.d, f.arch, *cells)))


def path_of(chapter):
    return measured.home_of(chapter) / "results/sass.txt"


def text_of(chapter, version, fs):
    """A chapter's table, without float16, which equals bfloat16."""
    lines = [f"# nvcc {version}, -O3, bfloat16 or float32; by make cuda-table"]
    for unit in (unit for unit in HEADINGS if unit.startswith(chapter)):
        lines.append(f"# kernel d arch {HEADINGS[unit]}")
        lines += [row(f) for f in fs if f.unit == unit and f.type != "float16"]
    return "\n".join(lines) + "\n"


def compiled(mode):
    kept = re.search(r"nvcc ([0-9.]*),", path_of("06").read_text()).group(1)
    try:
        version = re.search(r"release ([0-9.]*),", sass.output_of(sass.NVCC, "--version")).group(1)
        sass.nvdisasm()
    except Failed as failed:
        if mode == "make":
            raise
        print(f"skipped: {failed}")
        return 0
    fs = sass.made()
    wrong = sass.wrong(fs) + (sass.accepted() if mode == "check" else [])
    if mode == "check" and version != kept:
        print(f"skipped: the tables are of nvcc {kept}, and here is {version}")
        for line in wrong:
            print(f"reported, as nvcc is {version}: {line}")
        return 0
    for line in wrong:
        print(line, file=sys.stderr)
    status = int(bool(wrong))
    for path, now in ((path_of(chapter), text_of(chapter, version, fs)) for chapter in sass.CHAPTERS):
        was = path.read_text().splitlines()
        if mode == "make" and not wrong:
            path.write_text(now)
        elif now.splitlines() != was:
            print(f"stale: {path} (make cuda-table renews it)")
            print("\n".join(list(difflib.unified_diff(was, now.splitlines(), lineterm="", n=0))[2:22]))
            status = 1
    return status


def print_table(chapter, rows, *without):
    shown = None
    for line in path_of(chapter).read_text().splitlines():
        if line.startswith("# kernel "):
            headings = line.split()[1:]
        elif not line.startswith("#") and re.match(rows, line):
            cells = {heading: cell for heading, cell in zip(headings, line.split())
                     if heading not in ("arch", "checksum", *without)}
            if not shown:
                shown = [f"`{heading}`" if re.match("[A-Z]{3}", heading) else heading for heading in cells]
                print("| " + " | ".join(shown).replace("_", " ").replace(",", ", ") + " |")
                print("|" + "---|" * len(cells))
            cells["kernel"] = f"`{cells['kernel']}`"
            print("| " + " | ".join("–" if cell == "-" else cell.replace(",", ", ") for cell in cells.values()) + " |")
    return 0


def page_of(command, rest):
    """The lines of a measured table; None for a wrong call."""
    if command == "speed" and rest[1:2] == ["machine"] and len(rest) <= 3:
        return measured.speed_source(rest[0], *rest[2:])
    if command == "speed" and len(rest) > 3:
        return measured.speed(*rest[:3], rest[3:])
    if command == "best" and len(rest) > 1 and rest[0] in ("page", "summary"):
        return (measured.best_page if rest[0] == "page" else measured.best_summary)(rest[1:])
    if command == "older" and len(rest) > 1:
        return measured.if_older(*rest)
    if command == "front" and len(rest) == 1:
        return measured.front_picture(*rest)
    if command == "curve" and len(rest) == 1:
        return measured.curve_picture(*rest)
    if command == "chapters" and len(rest) in (1, 2):
        return measured.chapters(*rest)
    return None


def main(arguments):
    command, rest = (arguments or [""])[0], arguments[1:]
    try:
        if command in ("make", "check") and not rest:
            return compiled(command)
        if command == "table" and len(rest) > 1:
            return print_table(*rest)
        if command == "put" and len(rest) == 1:
            measured.put(*rest)
            return 0
        lines = page_of(command, rest)
    except Failed as failed:
        print(f"figures {command}: {failed}", file=sys.stderr)
        return 2
    if lines is None:
        print("figures: expected make, check, table, speed, best, older, front, curve, put or chapters, as "
              f"common/tools/figures.py has them; found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0
