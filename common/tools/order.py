"""order.py - what lies between two instructions of a kernel's machine code, whichever way a thread goes.

    order.under_the_product(function)    EX2 between the wait for scores and the wait for the product, and elsewhere
    order.stored_under_the_product(function)   STS.64 between the last wait for one product and that for all
    order.least_round(function)          instructions of a round of the loop with products, on the way with the fewest
    order.between_products(function)     the other instructions between one HGMMA of a group and the next

A kernel may wait for a tile's scores alone and make weights of them while a product runs. In its source the wait for
that product comes after the weights, but an assembler may move it up. Counts of instructions stay the same, so this
looks at ways: from the first wait to the second there are several, as there are branches, and the fewest EX2 on any
of them count. An EX2 with a predicate does not, because it may not be executed.

The instructions between two HGMMA of a group describe the next one's matrices. In a kernel that describes each matrix
anew they are three times as many as where only its begin moves on, and a warp issues them before the next product.
"""
import heapq
import re

WAIT_FOR_SCORES = re.compile(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x1\b")
WAIT_FOR_PRODUCT = re.compile(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x0\b")
EX2 = "MUFU.EX2"


class Lost(Exception):
    """Machine code whose branches cannot be followed."""


def label_in(function, instruction):
    name = re.search(r"\.L_\w+", instruction)
    if not name or name.group() not in function.labels:
        raise Lost(f"{function.name}: no label for '{instruction}'")
    return function.labels[name.group()]


def followers(function, state):
    """The states after this one: a place, and for each barrier of convergence where BSSY has it end. Calls return,
    and a thread that waits for others of its warp (WARPSYNC.COLLECTIVE) goes on at one place or the other."""
    place, ends = state
    instruction, predicate = function.instructions[place], function.predicates[place]
    opcode = re.match(r"[A-Z0-9]+", instruction).group()
    after = [] if place + 1 == len(function.instructions) else [(place + 1, ends)]
    if predicate == "!PT":
        return after
    if opcode in ("BRX", "BRXU", "JMX", "JMXU", "JMP"):
        raise Lost(f"{function.name}: '{instruction}' leads to no label")
    if opcode == "BRA":
        there = (label_in(function, instruction), ends)
        always = not predicate and re.match(r"BRA(\.[A-Z0-9.]+)? `", instruction)
        return [there] if always else [there, *after]
    if opcode in ("EXIT", "RET", "KILL"):
        return after if predicate or re.match(r"EXIT +U?!?U?P", instruction) else []
    if opcode == "BSSY":
        kept = tuple(end for end in ends if end[0] != barrier_of(instruction))
        return [(place + 1, tuple(sorted((*kept, (barrier_of(instruction), label_in(function, instruction))))))]
    if opcode == "BSYNC":
        end = dict(ends).get(barrier_of(instruction))
        there = after if end is None else [(end, ends)]
        return there + after if predicate else there
    if opcode == "WARPSYNC" and ".L_" in instruction:
        return [(label_in(function, instruction), ends), *after]
    return after


def barrier_of(instruction):
    return re.search(r"\bB\d+", instruction).group()


def reached(function, starts, ends_at=lambda place: False, cost=lambda place: 0):
    """The least cost of the ways to each state from one of these; none goes on from a place where it ends."""
    costs, queue = {state: 0 for state in starts}, [(0, state) for state in starts]
    while queue:
        so_far, state = heapq.heappop(queue)
        if so_far > costs[state] or state not in starts and ends_at(state[0]):
            continue
        for following in followers(function, state):
            total = so_far + cost(state[0])
            if total < costs.get(following, total + 1):
                costs[following] = total
                heapq.heappush(queue, (total, following))
    return costs


def under_the_product(function):
    """For the loop with products: the fewest EX2 on a way from a wait for scores to the next wait for all products,
    and how many EX2 are in it after that wait. (0, …) if a way has no such wait, (None, …) if nothing waits for
    scores alone."""
    code, loop = function.instructions, function.inmost("HGMMA")

    def scores(place):
        return WAIT_FOR_SCORES.match(code[place])

    def product(place):
        return WAIT_FOR_PRODUCT.match(code[place])

    def power(place):
        return code[place].startswith(EX2) and not function.predicates[place]

    every = reached(function, {(0, ())})
    first = {state for state in every if loop and loop[0] <= state[0] <= loop[1] and scores(state[0])}
    if not first:
        return None, 0
    between = reached(function, first, lambda place: scores(place) or product(place), power)
    second = {state: cost for state, cost in between.items() if product(state[0])}
    missed = any(not followers(function, state) for state in between if state not in second) or any(
        following in first for state in between if state not in second for following in followers(function, state))
    behind = reached(function, set(second), lambda place: scores(place) or not loop[0] <= place <= loop[1])
    late = {place for place, _ in behind if loop[0] <= place <= loop[1] and power(place)}
    return 0 if missed or not second else min(second.values()), len(late)


def stored_under_the_product(function):
    """For the loop with products: the fewest STS.64 on a way from its last wait for all but one product to the wait for
    all."""
    code, loop = function.instructions, function.inmost("HGMMA")

    def waits(place):
        return WAIT_FOR_SCORES.match(code[place]) or WAIT_FOR_PRODUCT.match(code[place])

    def store(place):
        return code[place].startswith("STS.64") and not function.predicates[place]

    first = {state for state in reached(function, {(0, ())})
             if loop and loop[0] <= state[0] <= loop[1] and WAIT_FOR_SCORES.match(code[state[0]])}
    last = max((place for place, _ in first), default=None)
    ways = reached(function, {state for state in first if state[0] == last}, waits, store)
    return min((cost for state, cost in ways.items() if WAIT_FOR_PRODUCT.match(code[state[0]])), default=0)


def least_round(function, counts=lambda instruction: True):
    """From the first product of the loop to its last wait for all of them; of the instructions those that count."""
    code, (begin, end) = function.instructions, function.inmost("HGMMA")
    first = next(place for place in range(begin, end) if code[place].startswith("HGMMA"))
    last = max((place for place in range(begin, end) if WAIT_FOR_PRODUCT.match(code[place])), default=end)
    starts = {state for state in reached(function, {(0, ())}) if state[0] == first}
    ways = reached(function, starts, lambda place: place == last, lambda place: counts(code[place]))
    return min((cost for state, cost in ways.items() if state[0] == last), default=0)


def between_products(function):
    """For each group of the loop with products, how many instructions are between an HGMMA and the next, in order."""
    first, last = function.inmost("HGMMA")
    groups, before = [[]], None
    for place in range(first, last + 1):
        if not function.instructions[place].startswith("HGMMA"):
            continue
        if before is not None:
            groups[-1].append(place - before - 1)
        before = place
        if "gsb0" in function.instructions[place]:  # the group ends
            groups, before = [*groups, []], None
    return [group for group in groups if group]
