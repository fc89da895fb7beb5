"""layers.py - checks that includes point down the layers without cycles, and that the top has only the chapters and
common.

    course.py layers

Lowest first: cpu; problem and files; measure; check; program; cuda; the chapters in order; then classroom, peers,
python and tools, and the chapters' folders for peers. Tests may include anything. It names both files of
each upward include, and the folders of a cycle.
"""
import graphlib
import re
import subprocess
import sys
from pathlib import Path

ROOMS = ("cpu", "problem files", "measure", "check", "program", "lab", "cuda")
LEVELS = {f"common/{name}": level for level, names in enumerate(ROOMS) for name in names.split()}
TOP = len(ROOMS) + 8
SOURCES = {".c", ".h", ".cpp", ".cu", ".cuh"}
AT_THE_TOP = re.compile(r"\..*|0[1-7]_[a-z_]*|common|Makefile|README\.md|LICENSE")
FROM_THE_TOP = re.compile("(common|0[1-7]_[a-z_]*)/")


def level_of(path):
    if "/program/peers/" in path:
        return TOP
    if re.match("0[1-7]_", path):
        return len(ROOMS) + int(path[1])
    return LEVELS.get("/".join(path.split("/")[:2]), TOP)


def room_of(path):
    return "/".join(path.split("/")[:-1][:2])


def includes():
    for top in [Path("common"), *sorted(Path().glob("0[1-7]_*"))]:
        for file in sorted(top.rglob("*")):
            if file.suffix in SOURCES and "tests" not in file.parts[:-1]:
                for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                    include = re.match(r' *# *include "([^"]*)"', line)
                    if include:
                        yield file.as_posix(), number, include[1]


def strangers():
    """Unexpected names at git's top level; none without git."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return []
    names = {path.split("/")[0] for path in listed.stdout.decode().split("\0") if path}
    return sorted(name for name in names if not AT_THE_TOP.fullmatch(name))


def wrong():
    for name in strangers():
        yield f"{name}: expected only the chapters, common, Makefile, README.md and LICENSE at the top"
    above = {}  # room -> the rooms it includes
    for file, number, included in includes():
        if not FROM_THE_TOP.match(included):
            yield f"{file}:{number}: {included}: expected a path from the top of the course"
            continue
        if level_of(included) > level_of(file):
            yield f"{file}:{number}: includes {included}, which is above it"
        if room_of(file) != room_of(included):
            above.setdefault(room_of(file), set()).add(room_of(included))
    try:
        graphlib.TopologicalSorter(above).prepare()
    except graphlib.CycleError as circle:
        yield f"a circle of folders: {' '.join(circle.args[1])}"


def main(arguments):
    if arguments:
        print(f"layers: expected nothing else, found '{arguments[0]}'", file=sys.stderr)
        return 2
    lines = list(wrong())
    if lines:
        print("\n".join(lines))
    return 1 if lines else 0
