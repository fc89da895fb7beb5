"""nvidia.py - NVIDIA's tools, for the tables of compiled kernels: nvcc, cuobjdump, nvdisasm.

What they look at is what `make cuda` has left in BUILD: of each file of kernels an object, and in NAME.nvcc
its machine code for each kind of GPU. PyPI has the last two as well.
"""
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import sass

BUILD = Path(os.environ.get("BUILD", "build"))
NVCC = os.environ.get("NVCC") or "nvcc"

# A file of kernels: its folder is 1_float32, 2_tensor_cores, 3_hopper or parts; source is its text, and that of
# the header with the loop over tiles if it includes one; made is the path of its object, without an end.
File = namedtuple("File", "name folder source made")

FETCHING = threading.Lock()


class Failed(Exception):
    """What cannot be done: a clear line for standard error."""


class Missing(Exception):
    """What this machine lacks, so that a check is skipped."""


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


def version():
    """nvcc's, or "" where there is none."""
    try:
        return "".join(re.findall(r"release ([0-9.]*),", output_of(NVCC, "--version")))
    except Failed:
        return ""


def tool(name):
    """The path of cuobjdump or nvdisasm: on the search path, beside nvcc, or from PyPI in BUILD/sass."""
    def find():
        fetched = (file for file in (BUILD / "sass").rglob(name) if file.is_file())
        return (shutil.which(name) or shutil.which(name, path=Path(shutil.which(NVCC) or "").parent)
                or next(fetched, None))
    with FETCHING:  # tables are made side by side, and a tool that is half unpacked can't be run yet
        if not find():
            try:
                output_of("python3", "-m", "venv", BUILD / "sass")
                output_of(BUILD / "sass/bin/pip", "install", "-q", "--disable-pip-version-check",
                          f"nvidia-cuda-{name}")
            except Failed as error:
                print(f"figures: {error}", file=sys.stderr)
        found = find()
    if not found:
        raise Missing(f"{name} is not here, and PyPI did not give it")
    return found


def home_of(chapter):
    """The chapter's folder."""
    found = sorted(Path(".").glob(f"{chapter}_*"))
    if not found:
        raise Failed(f"expected a folder {chapter}_… here: this runs in the course's folder")
    return found[0]


def source_of(path):
    """The text of a file of kernels, and that of a header with the loop over tiles which some of them share."""
    text, parts = path.read_text(), path.parent.parent / "parts"
    shared = [parts / name for name in ("persistent.cuh", "roles.cuh")]
    return text + "".join(header.read_text() for header in shared if f"{parts.parts[-3]}/kernels/parts/{header.name}" in text)


def files(chapter, *folders):
    """The chapter's files of kernels, by folder and in the order of its table of kernels."""
    home = home_of(chapter) / "kernels"
    order = re.findall(r"^STEP\(\w+, (\w+),", (home / "table.h").read_text(), re.MULTILINE)
    made = BUILD / "cuda/obj/gpu"
    found = [File(path.stem, path.parent.name, source_of(path), made / path.with_suffix(""))
             for folder in folders for path in sorted((home / folder).glob("*.cu"))]
    places = {name: place for place, name in enumerate(order)}
    return sorted(found, key=lambda file: (file.folder, places.get(file.name, len(order))))


def constant(file, name, otherwise=None):
    """What an enum in the file gives a name, such as STAGES = 2."""
    found = re.search(rf"\b(?:\w+_)?{name} = (\d+)", file.source)
    return int(found.group(1)) if found else otherwise


def code(file, gpu, kinds=("bfloat16",)):
    """The functions of these types in the file's machine code for a GPU such as 80, 90 or 90a."""
    found = sorted(Path(f"{file.made}.nvcc").glob(f"{file.name}*.cubin"))
    cubins = [path for path in found if re.search(rf"_{gpu}\.cubin$", path.name)] or found
    if len(cubins) != 1:
        raise Failed(f"{file.made}.nvcc: expected machine code for sm_{gpu}; make cuda makes it")
    return functions(cubins[0], kinds)


def functions(cubin, kinds=("bfloat16",)):
    return [function for function in sass.functions(output_of(tool("nvdisasm"), "-c", cubin))
            if function.type in kinds and len(function.numbers) >= 5]


def digits(gpu):
    return int(re.sub(r"\D", "", gpu))


def usage(compiled):
    """GPU, name, type, numbers, registers, shared bytes, bytes on the stack of each function in an object."""
    rows = []
    for gpu, symbol, used in sass.resources(output_of(tool("cuobjdump"), "--dump-resource-usage", compiled)):
        own = 1024 if gpu and digits(gpu) >= 90 else 0  # from 9.0 on the driver's own bytes are counted
        rows.append((gpu, *sass.parts_of(symbol), used["REG"], max(0, used["SHARED"] - own), used["STACK"]))
    return rows
