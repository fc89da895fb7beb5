"""sass.py - checks of the GPU kernels' machine code (SASS).

    fs = sass.made()    all kernels for compute capability 9.0 that `make cuda` has left in BUILD
    sass.wrong(fs)      violations of their claims (CLAIMS), a line each
    sass.accepted()     wrong versions visible only in machine code that violate no claim

An assembler may move a wait without changing any instruction count. So some claims are about paths between two
instructions: the one with the fewest counted instructions decides.
"""
import hashlib
import heapq
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path

from measured import Failed, home_of, output_of
from page import names_of

BUILD = Path(os.environ.get("BUILD", "build"))
NVCC = os.environ.get("NVCC") or "nvcc"
CHAPTERS = "06", "07"
TYPES = {"f": "float32", "6__half": "float16", "13__nv_bfloat16": "bfloat16"}
ALL_BUT_ONE, ALL = "WARPGROUP.DEPBAR.LE gsb0, 0x1", "WARPGROUP.DEPBAR.LE gsb0, 0x0"  # waits for groups of products
ATOMIC = "RED|REDG|ATOMG|ATOM"


# ---- machine code -------------------------------------------------------------------------------

class Function:
    """A kernel's instructions without their predicates: for `@P0 BRA`, code has the BRA and predicates P0. A loop is
    (label, branch back). A tensor core kernel's numbers are its shape: d, columns of a tile, bands of 16 rows a warp,
    warps, and more.
    """

    def __init__(self, symbol, text, chapter="", folder=""):
        self.symbol, (self.name, self.type, self.numbers) = symbol, parts_of(symbol)
        self.unit = f"{chapter} {folder[2:] if len(self.numbers) >= 5 or folder == '1_float32' else 'other'}"
        self.d, self.columns = [*self.numbers, "any", "any"][:2]
        self.code, self.predicates, self.labels, self.loops, left = [], [], {}, [], -1
        for line in text.splitlines():
            found = re.match(r" */\*[0-9a-f]+\*/ +(?:@(!?U?P[0-9T]+) *)?(.*)", line)
            if line.startswith(".L_"):
                self.labels[line.split(":")[0]] = len(self.code)
            elif found:
                predicate, instruction = found.groups()
                label = re.match(r"BRA.*?(\.L_\w+)", instruction)
                if label and self.labels.get(label.group(1), -1) > left:
                    self.loops.append((self.labels[label.group(1)], len(self.code)))
                if instruction.startswith("EXIT"):  # code after it is reached by jumps and jumps back: no loop
                    left = len(self.code)
                self.code.append(instruction)
                self.predicates.append("" if predicate == "PT" else predicate or "")

    def places(self, opcodes, within=None):
        """The places of these opcodes ("LDL|STL"), or of all, in the whole code or in a loop."""
        first, last = within or (0, len(self.code) - 1)
        begins = opcodes and tuple(opcode + end for opcode in opcodes.split("|") for end in ". ")
        return [place for place in range(first, last + 1) if self.code[place].startswith(begins)]

    def inner(self, loop):
        return [(first, last) for first, last in self.loops
                if loop[0] < first and last < loop[1] and self.places("HMMA|HGMMA", (first, last))]

    @cached_property
    def tiles(self):
        """The loop over tiles: the one with most products; Hopper kernels may have a loop over tasks around it."""
        loops = [loop for loop in self.loops if not (self.places("HGMMA") and self.inner(loop))]
        return max(loops, key=lambda loop: len(self.places("HMMA|HGMMA", loop)), default=(0, -1))

    @cached_property
    def times(self):
        """How often each instruction runs for a full tile: once in the loop over tiles, twice in an inner loop. If that
        is over keys (its LDSM transposes), the products up to the additions are for partial tiles.
        """
        times = [int(self.tiles[0] <= place <= self.tiles[1]) for place in range(len(self.code))]
        for first, last in self.inner(self.tiles):
            times[first:last + 1] = [2] * (last - first + 1)
            if any(".MT" in self.code[place] for place in self.places("LDSM", (first, last))):
                for place in self.places("HMMA|LDSM", (last + 1, self.places(ATOMIC, (last, self.tiles[1]))[0])):
                    times[place] = 0
        return times

    @cached_property
    def states(self):
        return list(ways(self, [(0, ())]))

    def checksum(self):
        def place_of(name):
            return str(self.labels.get(name.group(1), "name"))
        lines = (re.sub(r"\(([^()]*)\)", place_of, " ".join(line)) for line in zip(self.predicates, self.code))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


def parts_of(symbol):
    """A C++ symbol's name, type ("" without one) and template numbers."""
    length = re.match(r"_ZL?(\d+)|", symbol)
    begin, end = length.end(), length.end() + int(length.group(1) or len(symbol))
    given = re.match(r"I(f|6__half|13__nv_bfloat16)?(.*?E)E*v|", symbol[end:])
    numbers = [int(number) for number in re.findall(r"L[a-z](\d+)E", given.group(2) or "")]
    return symbol[begin:end], TYPES.get(given.group(1), ""), numbers


def functions(text, *of):
    parts = re.split(r"^\.text\.(.*):$", text, flags=re.MULTILINE)
    return [Function(symbol, body, *of) for symbol, body in zip(parts[1::2], parts[2::2])]


# ---- ways ---------------------------------------------------------------------------------------

def followers(f, state):
    """Where a thread may go from a state: a place and, for each convergence barrier, its end (from BSSY). Calls return;
    after WARPSYNC.COLLECTIVE a thread continues at either place.
    """
    (place, ends), instruction, predicate = state, f.code[state[0]], f.predicates[state[0]]
    opcode, label, barrier = (re.search(part, instruction) for part in (r"^[A-Z0-9]+", r"\.L_\w+", r"\bB\d+"))
    opcode, there = opcode.group(), f.labels.get(label and label.group())
    after = [(place + 1, ends)] if place + 1 < len(f.code) else []
    maybe = predicate or opcode == "WARPSYNC" or re.match(r"(BRA|EXIT)[A-Z0-9.]* +[^ ;`]", instruction)
    if predicate == "!PT" or opcode == "WARPSYNC" and not label:
        return after
    if opcode in ("EXIT", "RET", "KILL"):
        return after if maybe else []
    if opcode == "BSYNC":
        there = dict(ends).get(barrier.group(), place + 1)
    elif opcode in ("BRX", "BRXU", "JMX", "JMXU", "JMP") or opcode in ("BRA", "BSSY", "WARPSYNC") and there is None:
        raise Failed(f"{f.name}: '{instruction}' leads to no label")
    if opcode == "BSSY":
        return [(place + 1, tuple(sorted({**dict(ends), barrier.group(): there}.items())))]
    if opcode in ("BRA", "BSYNC", "WARPSYNC"):
        return [(there, ends), *(after if maybe else [])]
    return after


def ways(f, starts, ends=(), counted=()):
    """The states reachable from these, with the fewest counted places before each. Paths stop at `ends`."""
    queue, fewest = sorted((start[0] in counted, state) for start in starts for state in followers(f, start)), {}
    while queue:
        count, state = heapq.heappop(queue)
        if state not in fewest:
            fewest[state] = count
            for following in [] if state[0] in ends else followers(f, state):
                heapq.heappush(queue, (count + (state[0] in counted), following))
    return fewest


def under_a_product(f, opcodes):
    """In the loop over tiles, the fewest of these from each wait for all products but one to the next wait for all; 0 if
    a path avoids that, "-" without such waits. Predicated instructions may not execute, and do not count.
    """
    waits, ends, total = f.places(ALL_BUT_ONE, f.tiles), f.places(ALL), 0
    counted = {place for place in f.places(opcodes) if not f.predicates[place]}
    for wait in waits:
        found = ways(f, [state for state in f.states if state[0] == wait], {*waits, *ends}, counted)
        if any(state[0] == wait or not followers(f, state) for state in found):
            return 0
        total += min((count for (place, _), count in found.items() if place in ends), default=0)
    return total if waits else "-"


def in_a_round(f, opcodes):
    """The fewest of these from the first product of the loop over tiles to its last wait for all."""
    first, last = f.places("HGMMA", f.tiles)[:1], f.places(ALL, f.tiles)[-1:]
    found = ways(f, [state for state in f.states if state[0] in first], last, {*f.places(opcodes)})
    return min((count for (place, _), count in found.items() if place in last), default=0)


def described_anew(f, _):
    """In the loop over tiles, the groups most of whose products have over four instructions before the next: those that
    compute matrix descriptors, each from a base and a constant.
    """
    loop = f.code[f.tiles[0]:f.tiles[1] + 1]
    kinds = "".join("." if not code.startswith("HGMMA") else "L" if "gsb0" in code else "P" for code in loop)
    gaps = [re.split("[PL]", group)[1:-1] for group in re.findall("P[P.]*(?:L|$)", kinds)]  # L: a group's last
    return sum(2 * sum(len(gap) > 4 for gap in group) > len(group) for group in gaps)


def since_a_load(f, opcodes):
    """The fewest of these from the last load before it to a store of shared memory right after a barrier; the first such
    store is left out, as it comes before the loop."""
    found, count, after_barrier = [], 0, False
    for code in f.code:
        if code.startswith("LDG"):
            count, after_barrier = 0, False
        elif code.startswith("BAR.SYNC"):
            after_barrier = True
        elif code.startswith("STS") and after_barrier:
            found.append(count)
            after_barrier = False
        count += code.startswith(opcodes)
    return min(found[1:], default=0)


# ---- claims -------------------------------------------------------------------------------------

MEASURES = {"in the code": lambda f, opcodes: len(f.places(opcodes)),
            "a tile": lambda f, opcodes: sum(f.times[place] for place in f.places(opcodes)),
            "under a product": under_a_product, "in a round": in_a_round, "since a load": since_a_load, "groups described anew": described_anew}
SOME, ONE_AT_MOST = range(1, 1 << 20), range(2)
CLAIMS = {  # kernels, by chapter, kind and name: instructions in their machine code, and how many
    "": {"LDL|STL in the code": 0},
    "06 float32 ahead": {"FFMA since a load": SOME},  # the next slice is loaded before the products
    ".. tensor_cores": {"HMMA a tile": SOME, "LDSM a tile": SOME, "MUFU.EX2 a tile": SOME},
    "06 other turing": {"HMMA.1688.F32 in the code": SOME, "LDSM in the code": SOME, "LDGSTS in the code": 0},
    "06 tensor_cores (mma|swizzle)": {"LDGSTS in the code": 0},
    "06 tensor_cores (?!mma|swizzle)|07 tensor_cores": {"LDGSTS a tile": SOME},
    "07 tensor_cores mma": {f"{ATOMIC} a tile": SOME},
    "07 tensor_cores (?!mma)": {f"{ATOMIC} in the code": 0},

    ".. hopper": {"UTMALDG in the code": SOME, "SYNCS a tile": SOME},
    ".. hopper (wgmma|bulk)": {"USETMAXREG in the code": 0},
    ".. hopper (?!wgmma|bulk)": {"USETMAXREG in the code": SOME,
                                 "BRA.U.ANY in the code": 0},  # copies do not loop over lanes
    ".. hopper (?!store)": {"STSM|UTMASTG in the code": 0},

    "06 hopper": {"HGMMA a tile": lambda f: (f.d + f.columns) // 16, "HGMMA groups described anew": 0,
                  "CALL in the code": 0},
    "06 hopper (wgmma|roles)": {"MUFU.EX2 a tile": SOME, "MUFU.EX2 under a product": "-"},
    "06 hopper (?!wgmma|roles)": {"MUFU.EX2 under a product": lambda f: f.columns // 2},
    "06 hopper (?!wgmma|roles|overlap)": {"BAR.SYNC a tile": SOME, "BAR.ARV a tile": SOME},
    "06 hopper store": {"STSM in the code": SOME, "UTMASTG in the code": SOME},

    "07 hopper": {"HGMMA a tile": 32, "MUFU.EX2 a tile": lambda f: f.columns // 2, "UBLKRED in the code": 0,
                  "BAR.SYNC in a round": 1},
    "07 hopper (wgmma|bulk)": {"HGMMA groups described anew": 0, "BAR.SYNC a tile": 3},
    "07 hopper (?!wgmma|bulk)": {"HGMMA groups described anew": ONE_AT_MOST,  # dV's, which packs a factor of dK
                                 "BAR.SYNC a tile": 2},
    "07 hopper wgmma": {"UTMAREDG in the code": 0, "STS.64 under a product": 0, f"{ATOMIC} in the code": 32},
    "07 hopper (?!wgmma)": {"UTMAREDG in the code": 4, "STS.64 under a product": 16},
    "07 hopper (bulk|roles|store)": {f"{ATOMIC} in the code": 0},
    "07 hopper ordered": {f"{ATOMIC} in the code": 2},
    "07 hopper store": {"UTMASTG in the code": lambda f: f.d // 32, "STSM in the code": lambda f: f.d // 8,
                        "STG in the code": 0},
}


def measure(f, what):
    opcodes, where = what.split(" ", 1)
    return MEASURES[where](f, opcodes)


def wrong(fs):
    claims = [(f, what, right) for f in fs for kernels in CLAIMS if re.match(kernels, f"{f.unit} {f.name}")
              for what, right in CLAIMS[kernels].items()]
    lines = []
    for f, what, right in claims:
        found, right = measure(f, what), right(f) if callable(right) else right
        if found not in (right if isinstance(right, range) else (right,)):
            expected = {SOME: "some", ONE_AT_MOST: "at most 1"}.get(right, right)
            lines.append(f"{f.unit} {f.name}, {f.type}, d = {f.d}: {found} {what}, expected {expected}")
    return lines


# ---- what nvcc makes ----------------------------------------------------------------------------

@cache
def nvdisasm():
    """Found on PATH or next to nvcc, or fetched from PyPI into BUILD/sass."""
    found = shutil.which("nvdisasm") or shutil.which("nvdisasm", path=Path(shutil.which(NVCC) or "").parent)
    if not found and not list((BUILD / "sass").rglob("nvdisasm")):
        output_of("python3", "-m", "venv", BUILD / "sass")
        output_of(BUILD / "sass/bin/pip", "install", "-q", "--disable-pip-version-check", "nvidia-cuda-nvdisasm")
    return found or next((BUILD / "sass").rglob("nvdisasm"))


def made_of(source):
    """A file's kernels, sorted by shape, from the machine code in NAME.nvcc and ptxas's NAME.log."""
    made, folder = BUILD / "cuda/obj/gpu" / source, source.parent.name
    cubins = sorted(made.with_suffix(".nvcc").glob("*.cubin"), key=lambda path: path.stem.endswith("_90"))
    text, log = output_of(nvdisasm(), "-c", *cubins[-1:]), made.with_suffix(".log").read_text()
    fs, arch = functions(text, source.parts[0][:2], folder), "".join(re.findall(r"\.target\tsm_(\S+)", text))
    shapes = {(f.type, f.d) for f in fs if len(f.numbers) >= 5}
    if not arch.startswith("90") or folder in ("2_tensor_cores", "3_hopper") and source.stem != "turing" and len(shapes) < 4:
        raise Failed(f"{source}: expected sm_90, and two types and two d on tensor cores; found sm_{arch}, {shapes}")
    for f in fs:
        said = re.search(rf"'{f.symbol}' for 'sm_{arch}'\n(?:.*\n){{2}}.* (\d+) registers(?:.* (\d+) bytes smem)?", log)
        f.arch, f.registers, f.shared = arch, *map(int, said.groups("0"))
    return sorted(fs, key=lambda f: (f.name, f.numbers[:1], f.numbers[2:4], f.numbers[1:2]))


def made():
    sources = []
    for kernels in (home_of(chapter) / "kernels" for chapter in CHAPTERS):
        steps = names_of(kernels)
        sources += sorted(kernels.glob("*/*.cu"), key=lambda file: (file.parent, [*steps, file.stem].index(file.stem)))
    nvdisasm()  # fetch it before threads need it
    with ThreadPoolExecutor() as pool:
        return sum(pool.map(made_of, sources), [])


def wrong_versions():
    files = [home_of(chapter) / "tests/mistakes.txt" for chapter in CHAPTERS]
    only = r"^Name: (\S+)\n(?:[A-Z].*\n)*?Caught by: make cuda-check$"
    return [(file, name) for file in files for name in re.findall(only, file.read_text(), re.MULTILINE)]


def breaks(mistakes, name):
    """Violations after this mistake in the kernel that its name starts with, for bfloat16 and d = 64 only."""
    kernels, folder = mistakes.parents[1] / "kernels", BUILD / "wrong" / name
    source = folder / kernels / "3_hopper" / f"{name.split('_')[0]}.cu"
    shutil.copytree(kernels, folder / kernels, dirs_exist_ok=True)
    output_of("awk", "-f", "common/tools/mistakes.awk", "apply", folder, mistakes, name)
    source.write_text(source.read_text().replace("TENSOR_LAUNCH(launch, p, a, stream);",
                                                 "launch<__nv_bfloat16, 64>(p, a, stream);"))
    output_of(NVCC, "-std=c++17", "-O3", "-lineinfo", f"-I{folder}", "-I.", "-arch=sm_90a", "-cubin",
              "-o", folder / "cubin", source)
    return wrong(functions(output_of(nvdisasm(), "-c", folder / "cubin"), mistakes.parts[0][:2], "3_hopper"))


def accepted():
    versions = wrong_versions()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        broken = pool.map(lambda version: breaks(*version), versions)
        return [f"{file}: {name}: no claim is broken" for (file, name), lines in zip(versions, broken) if not lines]
