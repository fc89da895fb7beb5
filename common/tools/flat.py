"""flat.py - a kernel with all that it includes from the course, as one file that nvcc compiles by itself.

    course.py flat STEP     a kernel of chapter 06 (store) or 07 (cuda_store)
"""
import re
import sys
from itertools import groupby
from pathlib import Path

GUARD = re.compile(r"#ifndef (\w+)\n#define \1\n\n?(.*)#endif\n$", re.DOTALL)
EMULATOR = re.compile(r"^#ifdef __CUDACC__\n((?:.*\n)*?)#else\n(?:#if(?:.*\n)*?#endif\n|.*\n)*?#endif\n", re.MULTILINE)
HEADER = re.compile(r"^(/\*.*?\*/\n)((?:\n|#include [^\n]*\n)+)", re.DOTALL)


def pieces(file, included):
    """Each line with its file: first what a file includes, if it is not there yet, then its header comment."""
    included.add(file)
    text = EMULATOR.sub(r"\1", GUARD.sub(r"\2", file.read_text(encoding="utf-8")))
    for line in HEADER.sub(r"\2\1\n", text).splitlines():
        include = re.match('#include "(.*)"', line)
        if not include:
            yield file, line
        elif Path(include[1]) not in included:
            yield from pieces(Path(include[1]), included)


def main(arguments):
    kernels = {("cuda_" if "07_backward" in file.parts else "") + file.stem: file
               for file in sorted(Path().glob("0[67]_*/kernels/[0-9]_*/*.cu"))}
    step = " ".join(arguments)
    if step not in kernels:
        print(f"make flat: STEP={step}: expected one of {', '.join(kernels)}", file=sys.stderr)
        return 2
    print("#pragma nv_diag_suppress 177  // some functions are not called")
    for file, lines in groupby(pieces(kernels[step], set()), lambda piece: piece[0]):
        text = "\n".join(line for _, line in lines).strip("\n")
        print(f"\n// ---- {file}\n\n{text}" if text else "", end="\n" if text else "")
    return 0
