"""diagrams.py - the pictures that explain an idea; plots.py writes and checks them.

Their numbers are computed here, printed by the programs, or a GPU's results. Each picture is a function that returns
its width, height and SVG elements.
"""
import math
import re

import measured

INK, GREY = "#333333", "#767e87"
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
# Where pages are dark, a picture is its negative, with the hues that it had.
DARK = "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(.93) hue-rotate(180deg) } }</style>"
PALE = {BLUE: "#cfe3f0", ORANGE: "#f8dccb", GREEN: "#cbeae1", PINK: "#f3dfeb", GREY: "#e8eaec"}


# ---- elements -----------------------------------------------------------------------------------

def box(x, y, width, height, colour=GREY, fill=None):
    return (f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{fill or PALE[colour]}" '
            f'stroke="{colour}"/>')


def text(x, y, words, size=15, anchor="middle", colour=INK, weight="normal"):
    bold = ' font-weight="bold"' if weight == "bold" else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{bold}>{words}</text>'


def line(x1, y1, x2, y2, colour=GREY, width=1.5, dash=""):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def arrow(x1, y1, x2, y2, colour=INK):
    angle = math.atan2(y2 - y1, x2 - x1)
    left, right = (f"{x2 - 9 * math.cos(angle + turn):.1f} {y2 - 9 * math.sin(angle + turn):.1f}" for turn in (0.4, -0.4))
    return line(x1, y1, x2, y2, colour) + f'<path d="M{left}L{x2:g} {y2:g}L{right}z" fill="{colour}"/>'


def grid(x, y, rows, columns, cell, colour, filled=()):
    """A matrix; `filled` are (row, column) in full colour."""
    cells = [box(x, y, columns * cell, rows * cell, colour)]
    cells += [f'<rect x="{x + c * cell:g}" y="{y + r * cell:g}" width="{cell}" height="{cell}" fill="{colour}" '
              f'fill-opacity="0.45"/>' for r, c in filled]
    cells += [line(x + c * cell, y, x + c * cell, y + rows * cell, colour, 0.6) for c in range(1, columns)]
    cells += [line(x, y + r * cell, x + columns * cell, y + r * cell, colour, 0.6) for r in range(1, rows)]
    return "".join(cells)


# ---- the front page ------------------------------------------------------------------------------

def front(programs):
    problem, bars = measured.front_bars()
    drawn = [text(380, 22, "speed in TFLOP/s, trillions of operations per second", 14), text(380, 42, problem, 12, colour=GREY)]
    for k, (label, value) in enumerate(bars):
        y, width = 56 + 36 * k, 380 * value / max(value for _, value in bars)
        drawn += [text(258, y + 19, label, 14, "end"), box(268, y, max(width, 1), 26, (GREY, BLUE, BLUE, BLUE, GREEN)[k]),
                  text(278 + width, y + 19, f"{value:.3g}", 14, "start")]
    return 760, 244, drawn


def accesses(programs):
    shape = ("--heads", 4, "--n-q", 164, "--d", 32)
    no_tiles = programs.run("04_flash_no_tiling", *shape, "--traffic")
    tiles = programs.run("05_flash_tiled_cpu", *shape, "--step", "all")
    found = re.search(r"^ +all +[\d ]+ (\d+\.\d\d)", no_tiles, re.MULTILINE)[1]
    steps = {name: re.search(rf"^ +\d+ {name} +[\d ]+ (\d+\.\d\d)", tiles, re.MULTILINE)[1]
             for name in ("standard", "block_matmul", "fa2")}
    bars = (("chapter 04: no tiles", found, GREY), ("tiles, S and P stored", steps["standard"], ORANGE),
            ("the bare product, no softmax", steps["block_matmul"], GREEN), ("FlashAttention-2, with softmax", steps["fa2"], BLUE))
    drawn = [text(380, 26, "accesses per query–key pair", 15)]
    for k, (label, value, colour) in enumerate(bars):
        y = 44 + 44 * k
        drawn += [text(258, y + 20, label, 14, "end"), box(268, y, 6.6 * float(value), 30, colour),
                  text(278 + 6.6 * float(value), y + 20, value, 15, "start", INK, "bold")]
    return 760, 230, drawn


TILE_LABELS = ("query", "key", "fast memory holds", ("Q", "K", "V"), ("queries 0 and 1", "keys 2 and 3", "their values"),
               ("m", "l", "O, the average so far"))
FRONT_LABELS = ("word", "word", "loaded for the third tile", ("words 0, 1", "words 2, 3", "words 2, 3"),
                ("updated", "scored", "their values"), ("", "sum", "the average so far"))


def stepper(programs, labels=TILE_LABELS):
    """Chapter 05's worked example: fa1 after its third tile of four."""
    row, column, right, letters, loaded, kept = labels
    rows = re.findall(r"^ +(?:(\d) to \d)? +(\d) \[.*?\] +\[(.*?)\] +([\d.]+) +([\d.]+)  \[(.*?)\]$",
                      programs.run("05_flash_tiled_cpu"), re.MULTILINE)[:6]
    weights, state, first = {}, {}, "0"
    for key, query, P, m, l, O in rows:
        first = key or first
        new = [float(x) for x in P.split()]
        weights[query] = [x * (1 - sum(new)) for x in weights.get(query, [])] + new
        state[query] = m, l, O.split()
    drawn, cell, left, top = [text(190, 28, "weights so far, tile by tile", 15), text(570, 28, right, 15)], 58, 84, 66
    for k in range(4):
        drawn += [text(left + cell * (k + 0.5), 56, f"{column} {k}", 13, colour=ORANGE), text(left - 10, top + cell * (k + 0.5) + 5, f"{row} {k}", 13, "end", BLUE)]
        for j in range(4):
            weight = weights[str(k)][j] if j < len(weights[str(k)]) else None
            drawn.append(f'<rect x="{left + cell * j}" y="{top + cell * k}" width="{cell}" height="{cell}" fill="{BLUE}" '
                         f'fill-opacity="{0.7 * (weight or 0):.2f}" stroke="#d3d8de"/>')
            if weight is not None:
                drawn.append(text(left + cell * (j + 0.5), top + cell * (k + 0.5) + 5, f"{weight:.3f}", 14))
    for r in range(2):
        for c in range(2):
            now = (r, c) == (0, 1)
            drawn.append(f'<rect x="{left + 2 * cell * c}" y="{top + 2 * cell * r}" width="{2 * cell}" height="{2 * cell}" '
                         f'stroke="{INK if now else GREY}" stroke-width="{4 if now else 1.5}"/>')
            drawn.append(text(left + 2 * cell * c + 6, top + 2 * cell * r + 16, f"tile {r + 2 * c + 1}", 12, "start", weight="bold"))
    drawn.append(text(left + 3 * cell, top + 3 * cell + 5, "not yet", 13, colour=GREY))
    for k, (colour, name, what) in enumerate(zip((BLUE, ORANGE, PINK), letters, loaded)):
        drawn += [box(400 + 118 * k, 44, 106, 44, colour), text(453 + 118 * k, 63, name, 15, weight="bold"), text(453 + 118 * k, 80, what, 12)]
    if not kept[0]:  # the front page's sum does not use m
        state = {k: ("", f"{float(l) * math.exp(float(m)):.1f}", O) for k, (m, l, O) in state.items()}
        drawn += [text(570, 124, "kept from tile to tile", 15), text(570, 262, "averages of words 2, 3 wait in the large memory", 14, colour=GREY)]
    top = 124 if kept[0] else 148
    for k, title in zip((412, 470, 530, 650), (row, *kept)):
        drawn.append(text(k, top, title, 13, colour=GREY))
    for k in "01":
        m, l, O = state[k]
        y = top + 28 + 34 * int(k)
        left = 444 if kept[0] else 490
        drawn += [box(left, y - 21, 746 - left, 30, GREEN), text(412, y, k, 15, colour=BLUE), text(470, y, m, 14), text(530, y, l, 14)]
        drawn += [text(600 + 50 * c, y, x, 14) for c, x in enumerate(O)]
    if labels is TILE_LABELS:
        drawn.append(text(570, 230, "queries 2 and 3: in slow memory until tile 4", 14, colour=GREY))
        drawn += [box(430, 250, 280, 34, GREY, "#ffffff"), text(570, 272, "step back, play, step on", 15)]
    return 760, 312, drawn


def bands(programs):
    def square(x, title, queries, first, width):
        drawn = [text(x + 90, 26, title, 15)] + [text(x + 18 + 36 * j, 58, f"key {j}", 11, colour=GREY) for j in range(5)]
        for r in range(queries):
            y, place = 66 + 36 * (r + 5 - queries), first + r
            drawn.append(text(x - 8, y + 23, f"query {r}", 12, "end", GREY))
            drawn += [box(x + 36 * j, y, 36, 36, GREY, PALE[BLUE] if 0 <= place - j < width else "#ffffff") for j in range(5)]
        return drawn
    return 760, 260, square(70, "causal", 5, 0, 9) + square(325, "2 queries, 5 keys", 2, 3, 9) + square(570, "a window of 3 keys", 5, 0, 3)


def side_by_side(programs):
    drawn, cell, top = [text(150, 26, "one query: each addition waits", 15), text(530, 26, "eight queries: one instruction for all sums", 15)], 42, 44
    for k in range(4):
        y = top + 50 * k
        drawn += [box(36, y, 68, 32, BLUE), text(70, y + 21, f"K[{k}] Q[{k}]", 12), arrow(108, y + 16, 148, y + 16, GREY),
                  box(152, y, 66, 32, ORANGE), text(185, y + 21, "sum", 13)]
        drawn += [box(340 + (cell + 4) * i, y, cell, 32, BLUE) for i in range(8)]
        drawn += [text(334, y + 21, f"K[{k}] ×", 12, "end")]
        drawn += [text(340 + (cell + 4) * i + cell / 2, y + 21, f"Q{i}[{k}]", 12) for i in range(8)]
        if k < 3:
            drawn.append(arrow(185, y + 34, 185, y + 49, ORANGE))
            drawn += [arrow(340 + (cell + 4) * i + cell / 2, y + 34, 340 + (cell + 4) * i + cell / 2, y + 49, ORANGE) for i in range(8)]
    drawn += [box(340 + (cell + 4) * i, 256, cell, 32, ORANGE) for i in range(8)]
    drawn += [text(340 + (cell + 4) * i + cell / 2, 277, "sum", 12) for i in range(8)]
    drawn += [arrow(340 + (cell + 4) * i + cell / 2, 228, 340 + (cell + 4) * i + cell / 2, 254, ORANGE) for i in range(8)]
    drawn += [text(340 + (cell + 4) * i + cell / 2, 308, f"query {i}", 11, colour=GREY) for i in range(8)]
    drawn += [text(127, 270, "four additions, four cycles each:", 14), text(127, 300, "16 cycles for one score", 18, weight="bold"),
              text(522, 342, "the same 16 cycles for eight scores", 18, weight="bold")]
    return 760, 360, drawn


def sums(programs):
    """The blocks of columns_product and block_product, with vectors of 16 floats."""
    drawn = []
    for left, keys, title in ((136, 1, "one key"), (520, 8, "eight keys")):
        drawn.append(text(left + 115, 26, title, 18, weight="bold"))
        for v in range(2):
            drawn += [box(left + 120 * v, 40, 112, 48, BLUE), text(left + 56 + 120 * v, 60, "element k of", 15),
                      text(left + 56 + 120 * v, 79, f"queries {16 * v}–{16 * v + 15}", 14)]
        for r in range(keys):
            y = 98 + 33 * r
            drawn += [box(left - 76, y, 66, 27, BLUE), text(left - 43, y + 19, f"key {r}", 16)]
            drawn += [box(left + 120 * v, y, 112, 27, GREEN) for v in range(2)]
            drawn += [text(left + 56 + 120 * v, y + 19, "16 sums", 16) for v in range(2)]
        y = 98 + 33 * keys + 24
        drawn += [text(left + 78, y, f"{keys} + 2 loads", 19, colour=BLUE, weight="bold"),
                  text(left + 78, y + 26, f"{2 * keys} multiply-adds", 19, colour=GREEN, weight="bold")]
    drawn += [box(60, 262, 28, 22, BLUE), text(98, 279, "loaded anew for each k", 18, "start"),
              box(60, 298, 28, 22, GREEN), text(98, 315, "stay in registers for all k", 18, "start")]
    return 760, 426, drawn


def ring(programs):
    ranks, colours = 4, (BLUE, ORANGE, GREEN, PINK)
    drawn = [text(170, 30, "K and V travel, Q stays", 15)]
    places = ((110, 62), (210, 62), (210, 182), (110, 182))
    for rank, ((x, y), colour) in enumerate(zip(places, colours)):
        left = x - 70 if rank in (0, 3) else x
        drawn += [box(left, y, 90, 62, colour), text(left + 45, y + 24, f"rank {rank}", 14, weight="bold"),
                  text(left + 45, y + 46, f"chunks {rank}, {2 * ranks - 1 - rank}", 12)]
    drawn += [arrow(134, 93, 206, 93), arrow(255, 126, 255, 178), arrow(206, 213, 134, 213), arrow(85, 180, 85, 128)]
    x, y, cell = 440, 50, 26
    owner = [min(chunk, 2 * ranks - 1 - chunk) for chunk in range(2 * ranks)]
    drawn += [text(x + 4 * cell, 30, "keys, in 8 chunks", 13), text(x - 34, y - 8, "queries", 13)]
    for q in range(2 * ranks):
        colour = colours[owner[q]]
        drawn += [text(x + q * cell + cell / 2, y - 6, q, 12, colour=GREY), text(x - 10, y + q * cell + 18, q, 12, "end", colour, "bold")]
        for k in range(q + 1):
            drawn += [box(x + k * cell, y + q * cell, cell, cell, colour),
                      text(x + k * cell + cell / 2, y + q * cell + 18, (owner[q] - owner[k]) % ranks, 13)]
    drawn += [text(x + 8 * cell + 14, y + 76, "colour: the rank", 13, "start"),
              text(x + 8 * cell + 14, y + 96, "number: the step", 13, "start")]
    return 800, 280, drawn


def decode(programs):
    cell, top = 22, 58
    drawn = [text(134, 26, "prefill", 15, weight="bold"), text(134, 46, "the prompt at once", 12, colour=GREY),
             text(328, 26, "decode", 15, weight="bold"), text(328, 46, "one query, all keys", 12, colour=GREY),
             text(600, 26, "a cache in pages", 15, weight="bold"), text(600, 46, "rows of K and V of two texts", 12, colour=GREY)]
    drawn += [grid(68, top, 6, 6, cell, BLUE, [(q, k) for q in range(6) for k in range(q + 1)]),
              text(134, top + 6 * cell + 20, "keys", 12, colour=GREY), text(60, top + 3 * cell + 5, "queries", 12, "end", GREY)]
    for row in range(3):
        drawn.append(grid(240, top + 40 + row * cell, 1, 8, cell, BLUE, [(0, k) for k in range(8)]))
    drawn += [text(328, top + 30, "3 heads that share them", 12, colour=BLUE), text(328, top + 40 + 3 * cell + 20, "keys", 12, colour=GREY),
              box(240 + 7 * cell, top + 40, cell, 3 * cell, ORANGE, "none"), text(328, top + 40 + 3 * cell + 42, "the newest key is its own", 12, colour=ORANGE)]
    texts = (("text A", ORANGE, 10, (1, 4, 2)), ("text B", GREEN, 6, (5, 0)))  # rows, and their pages
    for n, (label, colour, rows, pages) in enumerate(texts):
        y = top + 10 + 92 * n
        drawn += [text(470, y + 18, label, 13, "start", colour, "bold"), text(470, y + 36, f"{rows} rows", 12, "start", GREY),
                  text(470, y + 54, "pages " + ", ".join(map(str, pages)), 12, "start", colour)]
    owner = {page: (colour, min(4, rows - 4 * k)) for _, colour, rows, pages in texts for k, page in enumerate(pages)}
    for page in range(7):
        y = top + page * 28
        colour, used = owner.get(page, (GREY, 0))
        drawn += [text(602, y + 17, page, 12, "end", GREY), grid(610, y, 1, 4, cell, colour, [(0, k) for k in range(used)])]
        if page not in owner:
            drawn.append(text(706, y + 17, "free", 12, "start", GREY))
    return 760, 270, drawn


# ---- chapters 01 to 04 --------------------------------------------------------------------------

def bars(x, base, values, scale, colour, form):
    drawn = []
    for k, value in enumerate(values):
        height = value * scale
        drawn += [box(x + 62 * k, base - height, 44, height, colour),
                  text(x + 62 * k + 22, base - height - 8, form.format(value), 15)]
    return drawn + [line(x - 10, base, x + 62 * len(values), base)]


def softmax(programs):
    scores = [1, 2, 3, 4]
    exponentials = [math.exp(x) for x in scores]
    weights = [e / sum(exponentials) for e in exponentials]
    return 760, 250, [*bars(40, 210, scores, 38, BLUE, "{}"), text(160, 238, "scores: any numbers"),
                      arrow(315, 130, 445, 130), text(380, 112, "softmax"),
                      *bars(480, 210, weights, 236, ORANGE, "{:.2f}"), text(600, 238, "weights: add up to 1")]


def memory(programs):
    drawn = [box(40, 70, 120, 110, ORANGE), text(100, 120, "processor"), text(100, 142, "+ × e^x", 14, colour=GREY),
             box(250, 85, 130, 80, GREEN), text(315, 120, "fast memory"), text(315, 142, "small", 14, colour=GREY),
             box(520, 30, 220, 190, BLUE), text(630, 118, "slow memory"), text(630, 142, "large: all arrays", 14, colour=GREY),
             arrow(160, 115, 250, 115), arrow(250, 138, 160, 138),
             line(520, 112, 392, 112, INK, 3), arrow(400, 112, 381, 112), text(450, 100, "load"),
             line(380, 142, 508, 142, INK, 3), arrow(500, 142, 519, 142), text(450, 162, "store"),
             text(450, 196, "one access:", 13, colour=GREY), text(450, 213, "one element", 13, colour=GREY)]
    return 760, 250, drawn


def shift(programs):
    def at(x):
        return 380 + 62 * x, 250 - 9.6 * math.exp(x)

    curve = "M" + "L".join("{:.1f} {:.1f}".format(*at(k / 10)) for k in range(-50, 32))
    drawn = [line(60, 250, 700, 250), f'<path d="{curve}" stroke="{BLUE}" stroke-width="2.5"/>',
             line(60, 250 - 9.6, 700, 250 - 9.6, GREY, 0.8, "4 4"), text(64, 234, "1", 13, "start", GREY)]
    for x, colour in ((1, ORANGE), (2, ORANGE), (3, ORANGE), (-2, GREEN), (-1, GREEN), (0, GREEN)):
        drawn.append(f'<circle cx="{at(x)[0]:g}" cy="{at(x)[1]:.1f}" r="6" fill="{colour}"/>')
        drawn.append(text(at(x)[0], 271, f"{x}".replace("-", "−"), 14))
    drawn += [text(500, 120, "scores 1, 2, 3: e^x grows without limit", 15, "end", ORANGE),
              text(250, 205, "minus the largest, 3: e^x is at most 1", 15, "middle", GREEN),
              text(700, 292, "x", 14, colour=GREY)]
    return 760, 300, drawn


def merge(programs):
    drawn, blocks = [], (((1, 3), 40), ((2, 4), 430))
    sums = []
    for scores, x in blocks:
        m = max(scores)
        sums.append((m, sum(math.exp(s - m) for s in scores)))
        drawn += [box(x, 30, 290, 62, BLUE), text(x + 145, 56, f"scores {scores[0]} and {scores[1]}"),
                  text(x + 145, 80, f"m = {m}, l = {sums[-1][1]:.4f}", 15, weight="bold")]
    (m_a, l_a), (m_b, l_b) = sums
    drawn += [arrow(185, 92, 300, 158), text(196, 138, f"l × e^({m_a} − {m_b})", 15, "end", ORANGE),
              arrow(575, 92, 460, 158), text(562, 138, "l × 1", 15, "start", ORANGE),
              box(235, 160, 290, 62, GREEN), text(380, 186, "all four scores"),
              text(380, 210, f"m = {m_b}, l = {l_a * math.exp(m_a - m_b) + l_b:.4f}", 15, weight="bold")]
    return 760, 240, drawn


def attention(programs):
    drawn, cell, top, row = [], 15, 70, 4

    def matrix(x, y, rows, columns, name, shape, colour, filled):
        drawn.append(grid(x, y, rows, columns, cell, colour, filled))
        drawn.append(text(x + columns * cell / 2, y - 10, name, 17, weight="bold"))
        drawn.append(text(x + columns * cell / 2, top + 6 * cell + 26, shape, 13, colour=GREY))

    def sign(x, words):
        drawn.append(text(x, top + 3 * cell + 5, words, 18))

    whole = [(row, c) for c in range(6)]
    matrix(20, top, 6, 2, "Q", "N × d", BLUE, [(row, 0), (row, 1)])
    sign(66, "·")
    matrix(82, top + 2 * cell, 2, 6, "Kᵀ", "d × N", BLUE, [])
    sign(190, "=")
    matrix(208, top, 6, 6, "S", "N × N", ORANGE, whole)
    drawn.append(arrow(308, top + 3 * cell, 388, top + 3 * cell))
    drawn.append(text(348, top + 3 * cell - 12, "softmax", 14))
    drawn.append(text(348, top + 3 * cell + 22, "of each row", 12, colour=GREY))
    matrix(398, top, 6, 6, "P", "N × N", ORANGE, whole)
    sign(505, "·")
    matrix(522, top, 6, 2, "V", "N × d", BLUE, [])
    sign(577, "=")
    matrix(598, top, 6, 2, "O", "N × d", GREEN, [(row, 0), (row, 1)])
    drawn.append(text(640, top + (row + 0.5) * cell + 5, "one word", 13, "start", GREY))
    return 760, 205, drawn


# ---- chapters 06 and 07 -------------------------------------------------------------------------

def threads(programs):
    drawn = [box(15, 30, 730, 200, GREY, "#ffffff"), text(28, 50, "grid: all blocks of one launch", 14, "start", GREY)]
    for k, x in enumerate((30, 275, 520)):
        drawn += [box(x, 62, 215, 156, GREEN), text(x + 10, 80, f"block {k}" if k < 2 else "block 2 …", 14, "start")]
        for w in range(2):
            y = 88 + 38 * w
            drawn += [box(x + 10, y, 195, 32, BLUE), text(x + 18, y + 21, f"warp {w}", 12, "start")]
            drawn += [f'<circle cx="{x + 74 + 13 * t:g}" cy="{y + 16:g}" r="4" fill="{BLUE}"/>' for t in range(7)]
            drawn.append(text(x + 182, y + 20, "… 32", 11, colour=GREY))
        drawn += [box(x + 10, 172, 195, 34, ORANGE), text(x + 107, 194, "shared memory of the block", 13)]
    drawn += [box(15, 250, 730, 44, PINK), text(380, 277, "global memory: every thread can read and write it"),
              text(30, 316, "● a thread, with registers of its own", 13, "start", BLUE)]
    return 760, 326, drawn


def ldmatrix(programs):
    """Four 8 x 8 pieces of V: the row that each lane points to, and the numbers that it gets."""
    lane, row, cell, left, right, top = 9, 24, 26, 56, 352, 72
    g, t = lane // 4, lane % 4
    drawn = [text(168, 22, "1. which lane gives a row", 14, weight="bold"), text(456, 22, "2. which lane gets a number", 14, weight="bold"),
             text(456, 44, "piece 0, enlarged", 13), text(456, 64, "elements 0 to 7", 13, colour=GREY)]
    for n in range(4):
        x = left + 58 * n
        drawn += [text(x + 27, 44, f"piece {n}", 13), text(x + 27, 64, f"{8 * n} to {8 * n + 7}", 13, colour=GREY)]
        drawn += [box(x, top + row * r, 54, row, BLUE, BLUE if 8 * n + r == lane else PALE[BLUE]) for r in range(8)]
        drawn += [f'<rect x="{x + 54 / 8 * g:g}" y="{top + row * (2 * t + e) + 1:g}" width="7" height="{row - 2}" fill="{ORANGE}"/>' for e in range(2)]
        drawn += [text(x + 34, top + row * r + 17, 8 * n + r, 13, colour="#ffffff" if 8 * n + r == lane else INK) for r in range(8)]
    for r in range(8):
        drawn += [text(left - 8, top + row * r + 17, f"key {r}", 13, "end", GREY), text(right - 8, top + row * r + 17, f"key {r}", 13, "end", GREY)]
        for c in range(8):
            owner = 4 * c + r // 2
            drawn += [box(right + cell * c, top + row * r, cell, row, GREY, ORANGE if owner == lane else "#ffffff"),
                      text(right + cell * (c + 0.5), top + row * r + 17, owner, 13, colour="#ffffff" if owner == lane else INK)]
    y = top + 8 * row + 24
    drawn += [text(12, y + 16, f"lane {lane}", 15, "start", weight="bold"), text(12, y + 34, "gets", 13, "start", GREY)]
    for n in range(4):
        drawn += [box(76 + 125 * n, y - 4, 119, 46, ORANGE), text(135 + 125 * n, y + 14, f"value[{n}]", 13, weight="bold"),
                  text(135 + 125 * n, y + 34, f"V[{2 * t}][{8 * n + g}], V[{2 * t + 1}][{8 * n + g}]", 12)]
    return 580, y + 54, drawn


def backward(programs):
    nodes = {"Q": (60, 70, BLUE), "K": (60, 170, BLUE), "P": (300, 130, ORANGE),
             "dO": (60, 355, BLUE), "V": (60, 280, BLUE), "dP": (300, 317, ORANGE), "dS": (480, 225, ORANGE),
             "D": (480, 365, BLUE), "dV": (670, 130, GREEN), "dQ": (670, 225, GREEN), "dK": (670, 320, GREEN)}
    edges = [("Q", "P"), ("K", "P"), ("dO", "dP"), ("V", "dP"), ("P", "dS"), ("dP", "dS"), ("D", "dS"),
             ("P", "dV"), ("dS", "dQ"), ("dS", "dK")]
    drawn = []
    for a, b in edges:
        (xa, ya, _), (xb, yb, _) = nodes[a], nodes[b]
        length = math.hypot(xb - xa, yb - ya)
        dx, dy = (xb - xa) / length, (yb - ya) / length
        drawn.append(arrow(round(xa + 30 * dx), round(ya + 24 * dy), round(xb - 34 * dx), round(yb - 24 * dy), GREY))
    for name, (x, y, colour) in nodes.items():
        drawn += [box(x - 28, y - 18, 56, 36, colour), text(x, y + 6, name, 16, weight="bold")]
    notes = ((300, 102, "P = softmax(c Q Kᵀ)"), (300, 354, "dP = dO Vᵀ"), (480, 197, "dS = P (dP − D)"),
             (670, 102, "dV = Pᵀ dO"), (670, 197, "dQ = c dS K"), (670, 292, "dK = c dSᵀ Q"), (480, 402, "D = dO · O, row by row"))
    drawn += [text(x, y, words, 13, colour=INK) for x, y, words in notes]
    return 760, 415, drawn


def owners(programs):
    """Three by three tiles, twice: blocks of threads take columns, or rows."""
    cell, gap, top = 44, 8, 76
    colours = (BLUE, PINK, GREY)

    def tiles(left, title, by_keys):
        drawn = [text(left + 100, 22, title, 15, weight="bold"), text(left + 74, 46, "keys", 13, colour=GREY),
                 text(left - 8, top + 82 if by_keys else 66, "queries", 13, "end", GREY)]
        for k in range(3):
            x = y = k * (cell + gap)
            drawn += [box(left + j * (cell + gap), top + i * (cell + gap), cell, cell, colours[k])
                      for i, j in ([(i, k) for i in range(3)] if by_keys else [(k, j) for j in range(3)])]
            drawn.append(text(left + x + cell / 2, 66, f"block {k}", 12, colour=INK) if by_keys else
                         text(left - 8, top + y + 27, f"block {k}", 12, "end"))
            keys, queries = (GREEN, ORANGE) if by_keys else (ORANGE, GREEN)
            for n in range(3) if not by_keys else (1,):
                drawn.append(arrow(left + x + cell / 2 + 12 * (n - 1), top + 154, left + x + cell / 2 + 12 * (n - 1), top + 174, keys))
            drawn += [box(left + x - 2, top + 176, cell + 4, 28, keys), text(left + x + cell / 2, top + 195, "dK dV", 12)]
            for n in range(3) if by_keys else (1,):
                drawn.append(arrow(left + 152, top + y + 22 + 12 * (n - 1), left + 174, top + y + 22 + 12 * (n - 1), queries))
            drawn += [box(left + 176, top + y + 7, 40, 30, queries), text(left + 196, top + y + 27, "dQ", 13)]
        return drawn

    return 620, 316, (tiles(70, "a block takes keys", True) + tiles(382, "a block takes queries", False)
                      + [text(310, 304, "green: one block has all terms; orange: every block has a term", 13, colour=GREY)])


PICTURES = {"05_flash_tiled_cpu/pages/pictures/front.svg": front,
            "05_flash_tiled_cpu/pages/pictures/accesses.svg": accesses,
            "05_flash_tiled_cpu/pages/pictures/side_by_side.svg": side_by_side,
            "05_flash_tiled_cpu/pages/pictures/sums.svg": sums,
            "05_flash_tiled_cpu/pages/pictures/bands.svg": bands,
            "05_flash_tiled_cpu/pages/pictures/stepper.svg": stepper,
            "05_flash_tiled_cpu/pages/pictures/words.svg": lambda programs: stepper(programs, FRONT_LABELS),
            "05_flash_tiled_cpu/pages/pictures/ring.svg": ring,
            "05_flash_tiled_cpu/pages/pictures/decode.svg": decode,
            "01_standard_softmax/pages/pictures/softmax.svg": softmax,
            "01_standard_softmax/pages/pictures/memory.svg": memory,
            "02_safe_softmax/pages/pictures/shift.svg": shift,
            "03_online_softmax/pictures/merge.svg": merge,
            "04_flash_no_tiling/pages/pictures/attention.svg": attention,
            "06_flash_tiled_cuda/pages/pictures/threads.svg": threads,
            "06_flash_tiled_cuda/pages/pictures/ldmatrix.svg": ldmatrix,
            "07_backward/pages/pictures/dataflow.svg": backward,
            "07_backward/pages/pictures/owners.svg": owners}


def svg(picture, programs):
    width, height, drawn = picture(programs)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica,Arial,sans-serif" fill="none">\n{DARK}\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(drawn) + "\n</svg>\n")
