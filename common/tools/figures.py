"""figures.py - the tables of measured and compiled figures: made, checked, and printed for pages.

    course.py figures make|check [TABLE...]   of what nvcc made of the kernels; check skips with another nvcc
    course.py figures order                   do kernels for Hopper wait and compute in the order that they claim?
    course.py figures table TABLE [GPU]       one of them as Markdown, for one kind of GPU such as 90
    course.py figures speed NN TYPE PROBLEMS KERNEL...   what a GPU was measured to do, in TFLOP/s
    course.py figures speed NN machine [FOLDER]          the line below it: which GPU, when, by which command
    course.py figures best page|summary FILE...          the fastest kernels against PyTorch's backends
    course.py figures front PICTURE                      the picture of the front page, with its figures in words
    course.py figures put FOLDER                         what `make gpu` has left there, into the chapters' results
    course.py figures chapters BUILD [FOLDER]            a row per chapter: counts, error and speed

TABLE is 06/resources, 06/sass, 06/budget, 07/resources or 07/sass, as in NN_…/results. PROBLEMS
are d,N and perhaps ,causal, with spaces between. FOLDER is where a page finds results, or where results are.
"""
import difflib
import re
import sys

import compiled
import measured
import nvidia

MAKERS = {"07/resources": compiled.resources_07, "07/sass": compiled.sass_07,
          "06/resources": compiled.resources_06, "06/sass": compiled.sass_06, "06/budget": compiled.budget_06}


def budget_cells(row):
    """Warps of as many blocks as registers and shared memory of this kind of GPU leave room for."""
    _, d, queries, keys, bands, warps, registers, spilled, shared, asked, hmma, every = map(int, row[:12])
    blocks = compiled.occupancy(32 * warps, registers, shared)[0]
    return (d, f"{queries}, {keys}", 16 * bands, asked, registers, spilled or "none", shared, blocks * warps,
            f"{every / hmma:.1f}", row[12])


def code(row):
    return f"`{row[0]}`", row[1]


# Of each table: the headings of its page, and a row's cells.
PAGES = {
    "07/resources": ("kernel|d|registers|shared memory", lambda row: (*code(row), *row[3:5])),
    "07/sass": ("kernel|d|`HMMA`|`LDSM`|`MUFU.EX2`|`RED`", lambda row: (*code(row), *row[3:7])),
    "07/sass 90a": ("kernel|d|`HGMMA`|`UTMALDG`|`SYNCS`|`MUFU.EX2`|`RED`|`UTMAREDG`|a round",
                    lambda row: (*code(row), *row[3:10])),
    "06/resources": ("kernel|d|Br, Bc|registers|shared memory|blocks|warps|limited by",
                     lambda row: (*code(row), row[3], *row[5:8], f"{row[8]} of {row[9]}", row[10])),
    "06/sass": ("kernel|d|Br, Bc|`HMMA`|`LDSM`|`LDGSTS`|`MUFU`|float32|others",
                lambda row: (*code(row), f"{row[3]}, {row[4]}", *row[5:])),
    "06/sass 90a": ("kernel|d|Br, Bc|`HGMMA`|`UTMALDG`|`SYNCS`|`MUFU`|float32|others|`USETMAXREG`|"
                    "under a product",
                    lambda row: (*code(row), f"{row[3]}, {row[4]}", *row[5:11], *[cell.replace("-", "–")
                                                                                   for cell in row[11:13]])),
    "06/budget": ("d|Br, Bc|queries a warp|blocks asked for|registers|spilled|shared memory|warps|"
                  "instructions an `HMMA`|compiled", budget_cells),
}


def path_of(table):
    chapter, name = table.split("/")
    return nvidia.home_of(chapter) / "results" / f"{name}.txt"


def print_table(table, gpu=None):
    headings, cells = PAGES.get(f"{table} {gpu}", PAGES[table])
    rows = [line.split() for line in path_of(table).read_text().splitlines() if not line.startswith("#")]
    column = {"06/budget": 0}.get(table, 2)
    print("| " + headings.replace("|", " | ") + " |")
    print("|" + "---|" * len(headings.split("|")))
    for row in rows:
        if row[column] == gpu:
            print("| " + " | ".join(map(str, cells(row))) + " |")
    return 0


def one_table(mode, table, version):
    """Makes a table or holds the committed one against what nvcc made; the status."""
    path = path_of(table)
    was = path.read_text() if path.exists() else ""
    lines, wrong = MAKERS[table](version)
    for line in wrong:
        print(line, file=sys.stderr)
    now = "\n".join(lines) + "\n"
    if wrong:
        return 1
    if mode == "make":
        path.write_text(now)
    elif now != was:
        print(f"stale: {path} (make cuda-table renews it)")
        print("\n".join(list(difflib.unified_diff(was.splitlines(), lines, lineterm="", n=0))[2:22]))
        return 1
    return 0


def tables(mode, names):
    version, status = nvidia.version(), 0
    for table in names or MAKERS:
        path = path_of(table)
        kept = kept_version(table)
        if mode == "check" and kept != version:
            print(f"skipped: {path} is of nvcc {kept}, and here is {version or 'none'}")
            continue
        if not version:
            raise nvidia.Failed("no nvcc here")
        try:
            status = max(status, one_table(mode, table, version))
        except nvidia.Missing as missing:
            print(f"skipped: {path}: {missing}")
    return status


def kept_version(table):
    return re.search(r"nvcc ([0-9.]*),", path_of(table).read_text()).group(1)


def order():
    """What a kernel's machine code does in another order than it claims is wrong with the nvcc whose tables are
    committed; with another it is reported, as that assembler may do as it likes."""
    version, binding = nvidia.version(), kept_version("06/sass")
    if not version:
        print("skipped: the order in machine code: no nvcc here")
        return 0
    try:
        wrong = compiled.orders("06") + compiled.orders("07") + [why for wrong in compiled.wrong_orders() if (why := compiled.accepted(*wrong))]
    except nvidia.Missing as missing:
        print(f"skipped: the order in machine code: {missing}")
        return 0
    for line in wrong:
        if version == binding:
            print(line, file=sys.stderr)
        else:
            print(f"reported, as nvcc is {version} and not {binding}: {line}")
    return int(bool(wrong) and version == binding)


def page_of(command, rest):
    """The lines of a table of what was measured; None if the call is wrong."""
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
        if command in ("make", "check") and set(rest) <= set(MAKERS):
            return tables(command, rest)
        if command == "order" and not rest:
            return order()
        if command == "table" and len(rest) in (1, 2) and rest[0] in MAKERS:
            return print_table(*rest)
        if command == "put" and len(rest) == 1:
            measured.put(*rest)
            return 0
        lines = page_of(command, rest)
    except nvidia.Failed as failed:
        print(f"figures {command}: {failed}", file=sys.stderr)
        return 2
    if lines is None:
        print("figures: expected make, check, order, table, speed, best, older, front, curve, put, chapters or loop, as common/tools/"
              f"figures.py has them; found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0
