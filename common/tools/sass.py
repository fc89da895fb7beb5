"""sass.py - what is in a GPU's machine code, from nvdisasm's and cuobjdump's text.

    for function in sass.functions(text):       # name, type, numbers, instructions, loops

A loop is a pair (first, last) of places in function.instructions, from a label to the branch back to it.
Instructions are without their predicates: `@P0 BRA` is a BRA, and its place in function.predicates has P0.
"""
import hashlib
import re

LOCAL = "LDL", "STL"
FLOAT32 = "FFMA", "FMUL", "FADD", "FMNMX", "FSEL", "FSETP"
TYPES = {"f": "float32", "6__half": "float16", "13__nv_bfloat16": "bfloat16"}


def parts_of(mangled):
    """Of a C++ symbol: its name, the type ("" without one) and the numbers that the template was given."""
    found = re.match(r"_ZL?(\d+)", mangled)
    if not found:
        return mangled, "", []
    end = found.end() + int(found.group(1))
    name = mangled[found.end():end]
    arguments = re.match(r"I(f|6__half|13__nv_bfloat16)?(.*?E)E*v", mangled[end:])
    if not arguments:
        return name, "", []
    numbers = [int(number) for number in re.findall(r"L[a-z](\d+)E", arguments.group(2))]
    return name, TYPES.get(arguments.group(1), ""), numbers


class Function:
    def __init__(self, mangled):
        self.name, self.type, self.numbers = parts_of(mangled)
        self.instructions, self.predicates, self.loops = [], [], []
        self.labels, self.left = {}, -1

    def add(self, instruction, predicate=""):
        """A branch back is a loop, unless an EXIT is between: waits come after the code, and jump into it."""
        place = len(self.instructions)
        self.instructions.append(instruction)
        self.predicates.append("" if predicate == "PT" else predicate)
        target = instruction.startswith("BRA") and re.search(r"\.L_\w+", instruction)
        if instruction.startswith("EXIT"):
            self.left = place
        elif target and self.labels.get(target.group(), -1) > self.left:
            self.loops.append((self.labels[target.group()], place))

    def count(self, *opcodes, within=None):
        """How many instructions begin with one of these opcodes, in the whole function or in a loop."""
        first, last = within or (0, len(self.instructions))
        return sum(instruction.startswith(opcodes) for instruction in self.instructions[first:last + 1])

    def checksum(self):
        """Of all instructions: the same where nothing but names and labels' numbers differs."""
        def place(found):
            return str(self.labels.get(found.group(1), "name"))
        lines = (re.sub(r"\(([^()]*)\)", place, f"{predicate} {instruction}") if "(" in instruction
                 else f"{predicate} {instruction}"
                 for predicate, instruction in zip(self.predicates, self.instructions))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]

    def densest(self, opcode):
        """The loop with the most of these instructions, the first of several; None where no loop has one."""
        best = max(self.loops, key=lambda loop: self.count(opcode, within=loop), default=None)
        return best if best and self.count(opcode, within=best) else None

    def inmost(self, opcode):
        """The same among loops that have no other with such an instruction in them."""
        loops = [loop for loop in self.loops if self.count(opcode, within=loop) and not self.inner(loop, opcode)]
        return max(loops, key=lambda loop: self.count(opcode, within=loop), default=None)

    def inner(self, loop, opcode):
        """The loops within a loop that have such an instruction."""
        return [(first, last) for first, last in self.loops
                if loop[0] < first and last < loop[1] and self.count(opcode, within=(first, last))]


def functions(text):
    found = []
    for line in text.splitlines():
        if line.startswith(".text."):
            found.append(Function(line[len(".text."):].rstrip(":")))
        elif found and line.startswith(".L_"):
            found[-1].labels[line.split(":")[0].strip()] = len(found[-1].instructions)
        elif found:
            instruction = re.match(r" */\*[0-9a-f]+\*/ +(?:@(!?U?P[0-9T]+) *)?(.*)", line)
            if instruction:
                found[-1].add(instruction.group(2), instruction.group(1) or "")
    return found


def weights(function, loop, of_inner):
    """How often each instruction runs in a round of the loop: once, in an inner one of_inner times."""
    weight = [int(loop[0] <= place <= loop[1]) for place in range(len(function.instructions))]
    for first, last in function.inner(loop, "HMMA"):
        weight[first:last + 1] = [of_inner((first, last))] * (last - first + 1)
    return weight


def tally(function, weight, kinds):
    """The weighted counts of each kind of instruction, a tuple of opcodes, and after them of all others."""
    counts = [0] * (len(kinds) + 1)
    for instruction, times in zip(function.instructions, weight):
        kind = next((k for k, opcodes in enumerate(kinds) if instruction.startswith(opcodes)), len(kinds))
        counts[kind] += times
    return counts


def resources(text):
    """cuobjdump's resource usage as (GPU, symbol, numbers by name), such as {"REG": 32, "SHARED": 0, …}."""
    found, gpu, name = [], "", ""
    for line in text.splitlines():
        if line.startswith("arch = sm_"):
            gpu = line[len("arch = sm_"):].strip()
        elif line.startswith(" Function "):
            name = line[len(" Function "):].rstrip(":")
        elif line.startswith("  REG:"):
            found.append((gpu, name, {key: int(n) for key, n in re.findall(r"([A-Z]+):(\d+)", line)}))
    return found
