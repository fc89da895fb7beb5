"""compiled.py - the tables of what the compiled kernels take of a GPU, and of their machine code.

Each maker takes nvcc's version, and gives a table's lines and what is wrong: a kernel that does not have what
it claims. figures.py writes, checks and prints the tables.
"""
import re
import shutil
import statistics
from concurrent.futures import ThreadPoolExecutor

import nvidia
import order
import sass

# Threads of a block of chapter 06's kernels in float32, where they are not 128.
THREADS = {"naive": 256, "fa1": 256}
# Of chapter 07's kernels for Hopper: tiles of dQ in shared memory, and atomic additions in the code. Those of
# ordered are of whole numbers: the block's, and the turn's.
DQ_TILES, DS_TILES = {"bulk": 2, "roles": 1, "store": 1, "ordered": 1}, {"roles": 2, "store": 2, "ordered": 2}
DQ_STORES, DQ_BOXES = 16, 4  # STS.64 of a thread's part of dQ, and boxes that are added
ATOMICS = {"wgmma": 32, "ordered": 2}
ATOMIC = tuple(opcode + end for opcode in ("RED", "REDG", "ATOMG", "ATOM") for end in ". ")

# What a multiprocessor of the GPU that the pages show has room for: warps, blocks, kB of shared memory.
GPU, ROOM = "90", (64, 32, 228)

# Tiles that were tried for kernel budget, as in tiles.h: d, Br, Bc, bands of 16 queries a warp, blocks that a
# multiprocessor is to have registers for.
TRIED = """(64, 64, 32, 1, 4) (64, 64, 64, 1, 4) (64, 64, 128, 1, 3) (64, 64, 128, 1, 2) (64, 128, 64, 1, 2)
(64, 128, 128, 1, 2) (64, 128, 128, 1, 1) (64, 128, 32, 2, 2) (64, 128, 64, 2, 2) (64, 128, 128, 2, 1)
(128, 64, 32, 1, 3) (128, 64, 64, 1, 3) (128, 64, 64, 1, 2) (128, 64, 128, 1, 2) (128, 128, 32, 1, 2)
(128, 128, 64, 1, 2) (128, 128, 64, 1, 1) (128, 128, 128, 1, 1) (128, 128, 16, 2, 2) (128, 128, 32, 2, 2)
(128, 128, 64, 2, 1)"""


def in_parallel(work, *lists):
    with ThreadPoolExecutor() as pool:
        return list(pool.map(work, *lists))


class Claims:
    """What was expected of a kernel, and is not so."""

    def __init__(self):
        self.wrong = []

    def expect(self, whose, what, found, right):
        if found != right:
            self.wrong.append(f"{whose}: {found} {what}, expected {right}")

    def some(self, whose, what, found, wanted=True):
        if bool(found) != bool(wanted):
            self.wrong.append(f"{whose}: {found} {what}, expected {'some' if wanted else 'none'}")


def occupancy(threads, registers, shared):
    """Blocks on a multiprocessor, and what limits them. A warp gets registers in units of 256 from a quarter
    of 65 536; a block takes 1 kB of shared memory more. One that needs too much fits 0 times."""
    warps, blocks, kilobytes = ROOM
    own = threads // 32
    limits = [(warps // own, "warps"), (4 * (16384 // (-(-registers * 32 // 256) * 256)) // own, "registers")]
    if shared:
        taken = -(-(shared + 1024) // 128) * 128
        limits.append((1024 * kilobytes // taken, "shared-memory"))
    return min(limits + [(blocks, "blocks")], key=lambda limit: limit[0])


def resources_06_of(file):
    """The rows of a file of kernels."""
    rows = []
    for gpu, name, kind, numbers, registers, shared, spilled in nvidia.usage(f"{file.made}.o"):
        gpu, d, tile = nvidia.digits(gpu), numbers[0] if numbers else "any", "-"
        if gpu != int(GPU):
            continue
        threads = THREADS.get(file.name, 128)
        if len(numbers) >= 5:  # of a kernel on tensor cores bfloat16 is looked at: float16 takes as much
            if kind != "bfloat16":
                continue
            name, (d, columns, bands, warps) = f"{file.name}_tile", numbers[:4]
            queries = 16 * bands * warps
            tile, threads = f"{queries},{columns}", 32 * warps + nvidia.constant(file, "PRODUCER", 0)
            shared += (queries + 2 * nvidia.constant(file, "STAGES", 1) * columns) * d * 2
            if "group_store" in file.source:
                shared += boxes_of_O(queries, d, shared)
        fit, limit = occupancy(threads, registers, shared)
        rows.append((name, d, gpu, tile, threads, registers, shared, fit, fit * threads // 32, ROOM[0],
                     limit, spilled))
    return sorted(rows, key=lambda row: (row[2], row[0], 0 if row[1] == "any" else row[1], row[3]))


def resources_06(version):
    lines = [f"# nvcc {version}, -O3; one line a kernel and compute capability, by make cuda-table",
             "# kernel d arch Br,Bc threads registers shared blocks warps of limit spilled"]
    files = nvidia.files("06", "1_float32", "2_tensor_cores", "3_hopper")
    rows = sum(in_parallel(resources_06_of, files), [])
    return lines + [words(row) for row in rows], [f"spills: {words(row)}" for row in rows if row[-1]]


def boxes_of_O(queries, d, taken):
    """Bytes of the boxes through which O leaves (parts/store.cuh): all of O, or of 64 elements a row."""
    return 2 * queries * (d if taken + 2 * queries * d <= 226 << 10 else 64)


def words(row):
    return " ".join(map(str, row))


def shared_07(file, name, numbers):
    """Bytes of dynamic shared memory, which follow from the shape: the block's own rows of two matrices, two
    stages of the others' rows, and lse and D; dS, where a tile makes dQ; for Hopper also dQ."""
    d, columns, bands, warps = numbers[:4]
    rows = 16 * bands * warps
    tiles = (2 * rows + 4 * columns) * d
    if file.folder == "3_hopper":
        return (tiles + DS_TILES.get(file.name, 1) * rows * columns) * 2 + (4 + DQ_TILES.get(file.name, 0) * d) * columns * 4
    if name.endswith("_tile"):
        tiles += 2 * rows * columns
    return tiles * 2 + (2 * rows if name.endswith("_queries") else 4 * columns) * 4


def resources_07_of(file):
    """The rows of a file of kernels, in float32 or bfloat16: float16 takes as much."""
    rows, gpus = [], ("90a",) if file.folder == "3_hopper" else (GPU,)
    for gpu, name, kind, numbers, registers, shared, spilled in nvidia.usage(f"{file.made}.o"):
        tensor = len(numbers) >= 5
        if gpu not in gpus or kind not in (("bfloat16",) if tensor else ("", "float32")):
            continue
        if tensor:
            shared = shared_07(file, name, numbers)
            name = small_too(name, numbers)
        rows.append((name, numbers[0] if numbers else "any", gpu, registers, shared, spilled))
    return sorted(rows, key=lambda row: (row[2], row[0], 0 if row[1] == "any" else row[1]))


def small_too(name, numbers):
    """mma_tile/16 is the one of 16 queries, for GPUs with less shared memory."""
    return name + "/16" if name == "mma_tile" and numbers[1] == 16 else name


def resources_07(version):
    lines = [f"# nvcc {version}, -O3, nothing spilled; by make cuda-table",
             "# kernel d arch registers shared"]
    files = nvidia.files("07", "parts", "1_float32", "2_tensor_cores", "3_hopper")
    hopper_last = {"parts": 0, "3_hopper": 2}
    files.sort(key=lambda file: (hopper_last.get(file.folder, 1), file.name.startswith("complete")))
    rows = sum(in_parallel(resources_07_of, files), [])
    return lines + [words(row[:-1]) for row in rows], [f"spills: {words(row)}" for row in rows if row[-1]]


def loop_over_tiles(function, opcode):
    loop = function.densest(opcode)
    if not loop:
        raise nvidia.Failed(f"{function.name}: expected a loop with {opcode}, found none in its machine code")
    return loop


def tile_counts(function):
    """HMMA, LDSM, LDGSTS, MUFU, float32, others in the loop over tiles, per warp and tile. A loop within it
    with HMMA is that over a row's elements, half of them a round."""
    weight = sass.weights(function, loop_over_tiles(function, "HMMA"), lambda inner: 2)
    return sass.tally(function, weight, [("HMMA",), ("LDSM",), ("LDGSTS",), ("MUFU",), sass.FLOAT32])


def sass_row(file, gpu, function, claims):
    """16 x 8 x 16 of each product for each of a warp's bands is one HMMA."""
    d, columns, bands, warps = function.numbers[:4]
    counts = tile_counts(function)
    whose = f"{file.name}, d = {d}, {columns} keys, sm_{gpu}"
    claims.expect(whose, "HMMA a tile", counts[0], 2 * bands * (columns // 8) * (d // 16))
    claims.some(whose, "LDSM", counts[1])
    claims.some(whose, "LDGSTS", counts[2], wanted="cp_async" in file.source)
    claims.some(whose, "MUFU", counts[3])
    claims.expect(whose, "accesses to local memory", function.count(*sass.LOCAL), 0)
    return (file.name, d, gpu, 16 * bands * warps, columns, *counts)


def registers_asked(function):
    """The fewest and the most registers that a warpgroup asks for, or -."""
    asked = [int(re.search(r"0x[0-9a-f]+", instruction).group(), 16)
             for instruction in function.instructions if instruction.startswith("USETMAXREG")]
    return f"{min(asked)},{max(asked)}" if asked else "-"


def hopper_row(file, function, claims):
    """One HGMMA makes 64 rows of 16 elements of k, in S with all keys of a tile, in O with all of d. UTMALDG
    is for one thread of the block, which may have a loop of its own; where blocks stay and take their tiles
    from a queue, that loop is within one that loads Q."""
    d, columns, bands, warps = function.numbers[:4]
    loop = function.inmost("HGMMA")
    if not loop:
        raise nvidia.Failed(f"{function.name}: expected a loop with HGMMA, found none in its machine code")
    loads = max(function.count("UTMALDG", within=one) for one in function.loops)
    weight = [loop[0] <= place <= loop[1] for place in range(len(function.instructions))]
    hgmma, _, syncs, mufu, real, other = sass.tally(
        function, weight, [("HGMMA",), ("UTMALDG",), ("SYNCS",), ("MUFU",), sass.FLOAT32])
    whose = f"{file.name}, d = {d}, {columns} keys, sm_90a"
    claims.expect(whose, "HGMMA a tile", hgmma, d // 16 + columns // 16)
    claims.expect(whose, "UTMALDG a tile", loads, (3 if "parts/queue.h" in file.source else 2) * d // 64)
    claims.some(whose, "mbarriers", syncs)
    claims.some(whose, "MUFU", mufu)
    consumers = "THREE_" if warps == 12 else ""
    few, many = nvidia.constant(file, f"{consumers}FEW"), nvidia.constant(file, f"{consumers}MANY")
    claims.expect(whose, "for setmaxnreg", registers_asked(function), f"{few},{many}" if few else "-")
    claims.expect(whose, "accesses to local memory", function.count(*sass.LOCAL), 0)
    for opcode in "STSM", "UTMASTG":
        claims.some(whose, f"{opcode}, by which O leaves", function.count(opcode), wanted="group_store" in file.source)
    under = expect_order(file, function, whose, claims)
    turns = function.count("BAR.SYNC", "BAR.ARV", within=loop)
    if nvidia.constant(file, "TURN") and turns < 2:
        claims.wrong.append(f"{whose}: turns are not taken and given: {turns} barriers")
    return (file.name, d, "90a", 16 * bands * warps, columns, hgmma, loads, syncs, mufu, real, other,
            registers_asked(function), under, function.checksum())


# What is asked of the order of waits and EX2.
ORDER = "EX2 between the wait for the scores and that for the product, on the way with the fewest"
LATE = "EX2 of the loop after the wait for the product"

# And of the instructions between two products of a group: half of them at most have more than this. Two matrices are
# described by four, a base and a constant each; where a kernel of chapter 07 has no base in a register, by seven.
BETWEEN = "instructions between one product of a group and the next, in the middle of all; expected at most"
DESCRIBED = {"06": 4, "07": 7}

# Groups of products that are left out there: between those of dV roles packs the factor of the next.
PACKED_BETWEEN = {"roles_tile": 1, "store_tile": 1, "ordered_tile": 1}

# Barriers of those that multiply, in the loop: those of a round, and one where keys are masked. Rows of K can be cleared only
# after the round's barrier, up to which the other warpgroup's dQ may read them; and dQ of both must see them cleared.
BARRIERS = {"wgmma": 3, "bulk": 3, "roles": 2, "store": 2, "ordered": 2}


def weights_of(file, function):
    """The weights that a thread makes of a tile, where the source waits for scores alone: 64 rows a warpgroup."""
    return 64 * function.numbers[1] // 128 if "wgmma_wait<1>" in file.source else "-"


def expect_order(file, function, whose, claims):
    """EX2 are where the source has them, and nothing is called, as a division is; returns the EX2 under a product."""
    try:
        under, late = order.under_the_product(function)
    except order.Lost as lost:
        raise nvidia.Failed(f"{file.name}: {lost}") from None
    under = "-" if under is None else under
    claims.expect(whose, ORDER, under, weights_of(file, function))
    claims.expect(whose, LATE, late, 0)
    claims.expect(whose, "calls", function.count("CALL"), 0)
    expect_described("06", file, function, whose, claims)
    return under


def expect_described(chapter, file, function, whose, claims):
    """Products of a group follow one another, and nothing is between them but their descriptions. And where warps have
    roles, the compiler knows that one thread issues copies: else each copy is in a loop over the lanes, which ends with BRA.U.ANY."""
    if nvidia.constant(file, "FEW"):
        claims.expect(whose, "loops over lanes", function.count("BRA.U.ANY"), 0)
    groups = sorted(map(statistics.median_low, order.between_products(function)))
    middle = max(groups[:len(groups) - PACKED_BETWEEN.get(function.name, 0)], default=0)
    if middle > DESCRIBED[chapter]:
        claims.wrong.append(f"{whose}: {middle} {BETWEEN} {DESCRIBED[chapter]}")


def expect_backward(file, function, whose, claims):
    """dQ is stored while dK is made, and one thread has the TMA add it; as many barriers as there should be, and nothing
    in local memory."""
    shares = "share_dQ" in file.source
    claims.expect(whose, "STS.64 of dQ between the wait for dQ and that for dK, on the way with the fewest",
                  order.stored_under_the_product(function) if shares else 0, DQ_STORES if shares else 0)
    claims.expect(whose, "boxes of dQ that are added (UTMAREDG)", function.count("UTMAREDG"), DQ_BOXES if shares else 0)
    claims.expect(whose, "additions of rows (UBLKRED)", function.count("UBLKRED"), 0)
    boxes = 2 * function.numbers[0] // 64 if "fill_box" in file.source else 0
    claims.expect(whose, "boxes of dK and dV that are stored (UTMASTG)", function.count("UTMASTG"), boxes)
    claims.expect(whose, "STSM, four for each of them", function.count("STSM"), 4 * boxes)
    if boxes:
        claims.expect(whose, "stores of threads in global memory (STG)", function.count("STG"), 0)
    claims.expect(whose, "accesses to local memory", function.count(*sass.LOCAL), 0)
    expect_described("07", file, function, whose, claims)
    claims.expect(whose, "barriers in the loop", function.count("BAR.SYNC", within=function.inmost("HGMMA")),
                  BARRIERS.get(file.name, "what BARRIERS in compiled.py says"))
    claims.expect(whose, "barriers from the first product to the last wait, where no key is masked",
                  order.least_round(function, lambda instruction: instruction.startswith("BAR.SYNC")), 1)
    few, many = nvidia.constant(file, "FEW"), nvidia.constant(file, "MANY")
    claims.expect(whose, "for setmaxnreg", registers_asked(function), f"{few},{many}" if few else "-")


def order_wrong(file, functions):
    """What is wrong in these functions of a file, a line each."""
    claims, backward = Claims(), file.made.parts[-4].startswith("07")
    for function in functions:
        whose = f"{file.name}, {function.type}, d = {function.numbers[0]}"
        (expect_backward if backward else expect_order)(file, function, whose, claims)
    return claims.wrong


def orders(chapter):
    """The same of all kernels for Hopper in both types, which the tables have in one."""
    files = nvidia.files(chapter, "3_hopper")
    codes = in_parallel(lambda file: nvidia.code(file, "90a", ("bfloat16", "float16")), files)
    for file, functions in zip(files, codes):
        shapes = {(function.type, function.numbers[0]) for function in functions}
        if len(shapes) != 4:
            raise nvidia.Failed(f"{file.made}.nvcc: expected bfloat16 and float16, d = 64 and 128, found {shapes}")
    return sum(in_parallel(order_wrong, files, codes), [])


def wrong_orders():
    """Mistakes that only a kernel's machine code shows: the file, and the name in it."""
    files = [nvidia.home_of(chapter) / "tests/mistakes.txt" for chapter in ("06", "07")]
    return [(file, name) for file in files for name in
            re.findall(r"^Name: (\S+)\n(?:[A-Z].*\n)*?Caught by: make cuda-check$", file.read_text(), re.MULTILINE)]


def accepted(file, name):
    """Compiles a wrong version of the kernel that its name begins with, bfloat16 and d = 64 alone; "" if that is
    rejected, else why not."""
    folder = nvidia.BUILD / "wrong" / name
    shutil.rmtree(folder, ignore_errors=True)
    kernel = file.parents[1] / "kernels/3_hopper" / f"{name.split('_')[0]}.cu"
    source, parts = folder / kernel, kernel.parent.parent / "parts"
    shutil.copytree(parts, folder / parts)
    source.parent.mkdir(parents=True)
    shutil.copy(kernel, source)
    nvidia.output_of("awk", "-f", "common/tools/mistakes.awk", "apply", folder, file, name)
    source.write_text(source.read_text().replace("TENSOR_LAUNCH(launch, p, a, stream);",
                                                 "launch<__nv_bfloat16, 64>(p, a, stream);"))
    nvidia.output_of(nvidia.NVCC, "-std=c++17", "-O3", "-lineinfo", f"-I{folder}", "-I.",
                     "-gencode", "arch=compute_90a,code=sm_90a", "-cubin", "-o", folder / "cubin", source)
    compiled = nvidia.File(source.stem, "3_hopper", nvidia.source_of(source), source.with_suffix(""))
    functions = nvidia.functions(folder / "cubin")
    if len(functions) != 1:
        return f"{file}: {name}: {len(functions)} kernels, expected 1"
    return "" if order_wrong(compiled, functions) else f"{file}: {name}: its machine code is not rejected"


def all_functions(files, gpus):
    """(file, GPU, function) of each, sorted by shape."""
    pairs = [(file, gpu) for file in files for gpu in gpus]
    found = in_parallel(nvidia.code, *zip(*pairs))

    def shape(function):
        return small_too(function.name, function.numbers), [function.numbers[k] for k in (0, 2, 3, 1)]
    return [(*pair, function) for pair, functions in zip(pairs, found)
            for function in sorted(functions, key=shape)]


def complete(rows, files, gpus):
    """Every file has a row for every kind of GPU: none was overlooked."""
    for file in files:
        if {gpu for of, gpu, _ in rows if of == file} != set(gpus):
            raise nvidia.Failed(f"{file.made}.nvcc: expected kernels in bfloat16 for {' and '.join(gpus)}")
    return rows


def sass_06(version):
    claims = Claims()
    lines = [f"# nvcc {version}, -O3, bfloat16; instructions of the loop over tiles for each warp and tile, "
             "all branches taken",
             "# kernel d arch queries keys HMMA LDSM LDGSTS MUFU float32 others"]
    files, gpus = nvidia.files("06", "2_tensor_cores"), (GPU,)
    lines += [words(sass_row(*of, claims)) for of in complete(all_functions(files, gpus), files, gpus)]
    lines += ["# for Hopper: SYNCS are mbarriers; `under` are EX2 between the wait for scores and that for a product; "
              "the checksum is of the machine code",
              "# kernel d arch queries keys HGMMA UTMALDG SYNCS MUFU float32 others setmaxnreg under checksum"]
    files, gpus = nvidia.files("06", "3_hopper"), ("90a",)
    lines += [words(hopper_row(file, function, claims))
              for file, _, function in complete(all_functions(files, gpus), files, gpus)]
    return lines, claims.wrong


def whole_tile(function):
    """The weights of instructions in the loop over tiles, for a whole tile. A loop within it with HMMA is
    over the elements of two factors' rows, half of them a round; or, where ldmatrix transposes, it is over
    the block's keys, 64 a round, and what follows up to the additions is for a number of keys that 64 does
    not divide, which a whole tile does not have."""
    def transposes(loop):
        inside = function.instructions[loop[0]:loop[1] + 1]
        return any(re.match(r"LDSM.*\.MT", instruction) for instruction in inside)
    loop = loop_over_tiles(function, "HMMA")
    rows = 16 * function.numbers[2] * function.numbers[3]
    weight = sass.weights(function, loop, lambda inner: rows // 64 if transposes(inner) else 2)
    over_keys = max(filter(transposes, function.inner(loop, "HMMA")), default=None,
                    key=lambda inner: function.count("HMMA", within=inner))
    behind = over_keys[1] if over_keys else loop[1]
    added = next((place for place in range(behind + 1, loop[1] + 1)
                  if function.instructions[place].startswith("RED")), loop[1])
    for place in range(behind + 1, added):
        if function.instructions[place].startswith(("HMMA", "LDSM")):
            weight[place] = 0
    return weight


def backward_row(file, gpu, function, claims):
    """A tile has `columns` of scores for each of a warp's rows: S and dP are 16 x 8 x 16 in one HMMA each,
    and so are dV and dK, of d = 256 half a row, or dQ. In mma_tile a warp makes dQ of 16 elements from all
    keys; it adds four of them at once, in the loop and, for the last tile, after it."""
    d, columns, bands, warps = function.numbers[:4]
    rows = 16 * bands * warps
    part = d // 2 if function.name.endswith("_keys") and d > 128 else d
    products = 1 if function.name.endswith("_queries") else 2
    hmma = bands * (2 * (columns // 8) * (d // 16) + products * (columns // 16) * (part // 8))
    ldsm = 2 * (d // 16) * (bands + columns // 16) + products * (columns // 16) * (part // 16)
    red = 0
    if function.name == "mma_tile":
        hmma += rows // 16 * (columns // 16) * 2
        ldsm += rows // 16 * (columns // 16 + 1)
        red = columns // 16 * 2
    counts = sass.tally(function, whole_tile(function), [("HMMA",), ("LDSM",), ("MUFU.EX2",)])[:3]
    name = small_too(function.name, function.numbers)
    whose = f"{name}, d = {d}, sm_{gpu}"
    claims.expect(whose, "HMMA a tile", counts[0], hmma)
    claims.expect(whose, "LDSM a tile", counts[1], ldsm)
    claims.expect(whose, "MUFU.EX2 a tile", counts[2], bands * (columns // 8) * 4)
    claims.expect(whose, "atomic additions in all", function.count(*ATOMIC), 2 * red)
    claims.some(whose, "LDGSTS", function.count("LDGSTS"))
    claims.expect(whose, "accesses to local memory", function.count(*sass.LOCAL), 0)
    return name, d, gpu, *counts, red


def sass_07(version):
    claims = Claims()
    lines = [f"# nvcc {version}, -O3, bfloat16; instructions of the loop over tiles for each warp and tile, "
             "by make cuda-table",
             "# kernel d arch HMMA LDSM EX2 RED"]
    files, gpus = nvidia.files("07", "2_tensor_cores"), (GPU,)
    lines += [words(backward_row(*of, claims)) for of in complete(all_functions(files, gpus), files, gpus)]
    lines += ["# for Hopper: instructions in the whole code, and of a round on the way with the fewest; the checksum is of the "
              "machine code",
              "# kernel d arch HGMMA UTMALDG SYNCS EX2 RED UTMAREDG round checksum"]
    files, gpus = nvidia.files("07", "3_hopper"), ("90a",)
    lines += [words(backward_hopper_row(file, function, claims))
              for file, _, function in complete(all_functions(files, gpus), files, gpus)]
    return lines, claims.wrong


def backward_hopper_row(file, function, claims):
    """One HGMMA is 64 rows by 16 summed elements: d in S and dP, queries in dV and dK, 128 keys in dQ."""
    d, queries = function.numbers[:2]
    kinds = ("HGMMA",), ("UTMALDG",), ("SYNCS",), ("MUFU.EX2",), ATOMIC, ("UTMAREDG",)
    counts = [function.count(*opcodes) for opcodes in kinds]
    whose = f"{function.name}, d = {d}, sm_90a"
    claims.expect(whose, "HGMMA", counts[0], 2 * d // 16 + 2 * queries // 16 + 128 // 16)
    claims.some(whose, "UTMALDG", counts[1])
    claims.some(whose, "SYNCS", counts[2])
    claims.expect(whose, "MUFU.EX2", counts[3], queries // 2)
    claims.expect(whose, "atomic additions", counts[4], ATOMICS.get(file.name, 0))
    expect_backward(file, function, whose, claims)
    return f"cuda_{file.name}", d, "90a", *counts, order.least_round(function), function.checksum()


def spilled_bytes(function):
    """Bytes that instructions of spilling and of loading again move."""
    moves = [instruction.split()[0] for instruction in function.instructions
             if instruction.startswith(sass.LOCAL)]
    return sum(16 if ".128" in move else 8 if ".64" in move else 4 for move in moves)


def compile_tried():
    """Kernel budget with all tiles that were tried, in BUILD. Float16 is left out."""
    folder = nvidia.BUILD / "tried"
    folder.mkdir(parents=True, exist_ok=True)
    source, tiles, cubin = (folder / f"tried.{end}" for end in ("cu", "h", "cubin"))
    budget = next(file for file in nvidia.files("06", "2_tensor_cores") if file.name == "budget")
    source.write_text(budget.source.replace("launch_tile<__half>(p, a);", ";"))
    tiles.write_text("#define BUDGET_TILES(X) " + TRIED.replace("\n", " ").replace("(", "X(") + "\n")
    nvidia.output_of(nvidia.NVCC, "-std=c++17", "-O3", "-lineinfo", "-I.", "-include", tiles,
                     f"-arch=sm_{GPU}", "-cubin", "-o", cubin, source)
    return cubin


def budget_rows(cubin, compiled):
    """compiled are the tiles that are part of the program."""
    functions = {tuple(function.numbers): function for function in nvidia.functions(cubin)}
    rows = []
    for _, _, kind, numbers, registers, _, _ in nvidia.usage(cubin):
        if kind != "bfloat16":
            continue
        (d, columns, bands, warps, asked), function = numbers[:5], functions[tuple(numbers)]
        queries, counts = 16 * bands * warps, tile_counts(function)
        rows.append((GPU, d, queries, columns, bands, warps, registers, spilled_bytes(function),
                     (queries + 4 * columns) * d * 2, asked, counts[0], sum(counts),
                     "yes" if (d, queries, columns, bands, asked) in compiled else "no"))
    return rows


def budget_06(version):
    text = (nvidia.home_of("06") / "kernels/parts/tiles.h").read_text()
    listed = re.search(r"define BUDGET_TILES(?:.*\\\n)*.*", text).group()
    compiled = {tuple(map(int, re.findall(r"\d+", tile))) for tile in re.findall(r"X\((\d[^)]*)\)", listed)}
    lines = [f"# nvcc {version}, -O3, bfloat16; tiles that were tried for kernel budget, by make cuda-table",
             "# arch d Br Bc bands warps registers spilled shared asked HMMA instructions compiled"]
    rows = sorted(budget_rows(compile_tried(), compiled),
                  key=lambda row: (row[1], row[4], row[2], row[3], -row[9]))
    tried = {(*row[1:5], row[9]) for row in rows}
    missing = [tile for tile in sorted(compiled) if tile not in tried]
    return (lines + [words(row) for row in rows],
            [f"tiles.h: expected every tile among those tried, {tile} is not" for tile in missing])
