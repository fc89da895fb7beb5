"""timeline.py - a GPU's units working on one block of a kernel, for plots/timeline.gp.

Lines: the rows, "# number name", then "row begin end kind label". Takes the first launch with products; consecutive
operations of a warpgroup are one box. `products` names the products in order of issue: "S PV"; a comma joins two that
alternate at one place in the source: "S,dP dV,dK dQ".
"""
from dataclasses import dataclass

from plot_data import Failed, cells_of, six

ROWS = ["copies", "sums", *(f"tensor cores {k}" for k in (1, 2, 3)), *(f"exponentials {k}" for k in (1, 2, 3))]
COPIES, SUMS, EXPONENTIALS = 1, 2, 3
SMALL = 1024  # bytes of a copy too small for a box


@dataclass
class Box:
    row: str
    kind: int
    label: str
    turn: int
    begin: float
    end: float


def boxes_of(events):
    """The boxes in order of issue."""
    boxes, of, latest, places, turns = [], {}, {}, {}, {}
    zero = float(events[0][5])
    for _, unit, warp, number, label, begin, end, _, place, *_ in events:
        begin, end = float(begin) - zero, float(end) - zero
        row = unit if unit in ("copies", "sums") else f"{unit} {int(warp) // 4 + 1}"
        key = row, number, label
        if key not in of:
            turn = 0
            if unit == "tensor cores":
                places.setdefault(place, len(places) + 1)
                turn = turns.get((row, place), 0)
                turns[row, place] = turn + 1
            kind = {"copies": COPIES, "sums": SUMS, "exponentials": EXPONENTIALS}.get(unit) or EXPONENTIALS + places[place]
            last = latest.get(row)
            # Copies issued together that arrive interleaved are one box, and so are sums.
            if unit in ("copies", "sums") and last and begin < last.end - 1:
                if label not in last.label:
                    last.label += f" {label}"
                of[key] = last
            else:
                of[key] = latest[row] = Box(row, kind, label, turn, begin, 0.0)
                boxes.append(of[key])
        box = of[key]
        box.begin, box.end = min(box.begin, begin), max(box.end, end)
    return boxes


def timeline(programs, chapter, kernel, products, shape):
    programs.run(chapter, "--device", "cpu", "--step", kernel, "--quiet", "--timeline", programs.csv, "--dtype", "bf16", *shape)
    with open(programs.csv, encoding="utf-8") as file:
        events = cells_of(file.read())[1:]
    launch = next((row[0] for row in events if row[1] == "tensor cores"), None)
    events = [row for row in events if row[0] == launch and not (row[1] == "copies" and float(row[7]) < SMALL)]
    if not events:
        raise Failed(f"{kernel}: expected products in its timeline")
    boxes = boxes_of(events)
    rows = [row for row in ROWS if row in {box.row for box in boxes}]
    lines = [f"# {k} {row}" for k, row in enumerate(rows)]
    count = {}
    for box in boxes:
        text = "P" if box.kind == EXPONENTIALS else box.label
        if box.kind > EXPONENTIALS:
            alternatives = products.split()[box.kind - EXPONENTIALS - 1].split(",")
            text = alternatives[box.turn % len(alternatives)]
        for part in text.split():
            nth = count.get((box.row, part), 0)
            count[box.row, part] = nth + 1
        if " " in text:
            nth = ""  # later labels continue this count
        lines.append(f"{rows.index(box.row)} {six(box.begin)} {six(box.end)} {box.kind} {text.replace(' ', '')}{nth}")
    return lines
