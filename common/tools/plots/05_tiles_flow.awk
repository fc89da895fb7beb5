# The animation of tiles moving between slow and fast memory, for fa1, fa2 and masks --causal.
#
#     awk -v N=8 -v d=4 -v B=2 -f 05_tiles_flow.awk DATA      tiles of B by B, and B divides N
#
# DATA has "tile STEP FIRST_KEY FIRST_QUERY" for each tile, in order, and "counted STEP ACCESSES"; the
# loads and stores that follow must add up to this count. All motion is CSS: without it viewers show the
# end.

$1 == "tile" { step = $2; n = ++tiles[step]; key[step, n] = $3 / B; query[step, n] = $4 / B }
$1 == "counted" { counted[$2] = $3 }

BEGIN {
    CELL = 34; TOP = 134; SECONDS = 1.2; REST = 3
    ink = "#767e87"
    colour["Q"] = "#0072B2"; colour["K"] = "#D55E00"; colour["V"] = "#CC79A7"; colour["O"] = "#009E73"
    split("fa1 fa2 masks", panel)
    says["fa1"] = "fa1"; more["fa1"] = "K and V stay, Q and O change"
    says["fa2"] = "fa2"; more["fa2"] = "Q and O stay, K and V change"
    says["masks"] = "masks, causal"; more["masks"] = "masked tiles are not loaded"
    place["Q"] = 0; place["K"] = 1; place["V"] = 2; place["S"] = 3; place["O"] = 4
}

# ---- places ---------------------------------------------------------------------------------------

function x_of(array, k) {  # of block k in slow memory, from the panel's corner
    return array == "Q" ? 22 : array == "O" ? 52 + blocks * CELL + 8 : 52 + k * CELL + 2
}
function y_of(array, k) {
    return array == "K" ? 74 : array == "V" ? 96 : TOP + k * CELL + 2
}
function slot_x(array) { return 18 + place[array] * 43 + 4 }
function slot_y() { return TOP + blocks * CELL + 44 }
function width_of(array) { return array == "K" || array == "V" ? CELL - 4 : array == "S" ? 26 : 22 }
function height_of(array) { return array == "K" || array == "V" ? 18 : array == "S" ? 26 : CELL - 4 }

# ---- pieces ---------------------------------------------------------------------------------------

function percent(seconds) { return sprintf("%.2f%%", 100 * seconds / period) }

function text(x, y, what, style) {
    printf "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y, style, what
}
# Blocks and cells are defined once and reused.
function define(array, width, height, style) {
    printf "<rect id=\"%s\" width=\"%d\" height=\"%d\"%s/>\n", array, width, height, style
}
function block(array, x, y, style) { printf "<use href=\"#%s\" x=\"%d\" y=\"%d\"%s/>\n", array, x, y, style }
function moving(class, motion) { return sprintf(" class=\"%s\" style=\"--m:%s\"", class, motion) }
# A moving block: starts in slow memory after `delay` seconds, then follows `motion`.
function flight(array, k, motion, delay,    x, y) {
    x = x_of(array, k); y = y_of(array, k)
    block(array, x, y, sprintf(" class=\"flight\" style=\"--x:%dpx;--y:%dpx;--m:%s;--t:%.1fs\"", \
        slot_x(array) + (34 - width_of(array)) / 2 - x, slot_y() + (34 - height_of(array)) / 2 - y, motion, delay))
}

# ---- the motions ----------------------------------------------------------------------------------
#
# load-N  to fast memory, staying for N steps               visit     to fast memory and back in one step
# keep-N  starts in fast memory, stored in its N-th step    fromN     shown after the middle of step N
# onlyN   shown in step N                                   storedN   shown after the end of step N
# work    the scores, while there are any

function motions(    n, there, away) {
    away = "opacity:0"; there = "opacity:1;transform:translate(var(--x),var(--y))"
    for (n = 1; n <= blocks; n++) {
        printf "@keyframes load-%d{0%%{opacity:1}%s,%s{%s}%s{%s}to{%s}}\n", n, percent(0.3 * SECONDS), \
            percent(n * SECONDS - 0.05), there, percent(n * SECONDS), away, away
        printf "@keyframes keep-%d{0%%,%s{%s}%s{opacity:1;transform:none}%s,to{%s}}\n", n, \
            percent((n - 0.35) * SECONDS), there, percent((n - 0.05) * SECONDS), percent(n * SECONDS), away
    }
    printf "@keyframes visit{0%%{opacity:1}%s,%s{%s}%s{opacity:1;transform:none}%s,to{%s}}\n", percent(0.3 * SECONDS), \
        percent(0.65 * SECONDS), there, percent(0.95 * SECONDS), percent(SECONDS), away
    printf "@keyframes work{0%%,%s{opacity:0}%s,%s{opacity:1}%s,to{opacity:0}}\n", percent(0.3 * SECONDS), \
        percent(0.35 * SECONDS), percent(0.85 * SECONDS), percent(0.95 * SECONDS)
    for (n = 1; n <= blocks * blocks; n++) {
        printf "@keyframes from%d{0%%{opacity:0}%s{opacity:1}}\n", n, percent((n - 0.5) * SECONDS)
        printf "@keyframes stored%d{0%%{opacity:0}%s{opacity:1}}\n", n, percent(n * SECONDS - 0.05)
        printf "@keyframes only%d{0%%{opacity:0}%s{opacity:1}%s{opacity:0}}\n", n, percent((n - 1) * SECONDS), percent(n * SECONDS)
    }
}

# ---- a panel --------------------------------------------------------------------------------------

# Slow and fast memory, with a pale block of each kind in its place, for viewers without motion.
function furniture(step,    k, s) {
    text(0, 20, says[step], " class=\"title\"")
    text(0, 40, more[step], "")
    text(22, 64, "slow memory", " class=\"small\"")
    text(46, 88, "K", " text-anchor=\"end\""); text(46, 110, "V", " text-anchor=\"end\"")
    text(33, TOP - 7, "Q", " text-anchor=\"middle\"")
    text(52 + blocks * CELL + 19, TOP - 7, step == "fa1" ? "O, m, l" : "O", " text-anchor=\"middle\"")
    for (k = 0; k < blocks; k++) {
        block("K", x_of("K", k), y_of("K", k), " fill-opacity=\"0.25\"")
        block("V", x_of("V", k), y_of("V", k), " fill-opacity=\"0.25\"")
        block("Q", x_of("Q", k), y_of("Q", k), " fill-opacity=\"0.25\"")
        block("O", x_of("O", k), y_of("O", k), " fill-opacity=\"" (step == "fa1" ? "0.25\"" : \
              "0\" stroke=\"" colour["O"] "\" stroke-dasharray=\"3 3\""))
    }
    printf "<rect x=\"8\" y=\"%d\" width=\"228\" height=\"66\" rx=\"8\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", slot_y() - 10, ink
    text(8, slot_y() - 17, "fast memory", " class=\"small\"")
    split("Q K V S O", s, " ")
    for (k = 1; k <= 5; k++) {
        block(s[k], slot_x(s[k]) + (34 - width_of(s[k])) / 2, slot_y() + (34 - height_of(s[k])) / 2, " fill-opacity=\"0.25\"")
        text(slot_x(s[k]) + 17, slot_y() + 51, s[k] == "O" ? "O, m, l" : s[k], " class=\"small\" text-anchor=\"middle\"")
    }
}

# The running count of accesses; each number is shown for one step.
function count(step, n, sum) {
    text(236, slot_y() + 84, sum, moving(n == tiles[step] ? "count last" : "count", (n == tiles[step] ? "from" : "only") n))
}

function draw(step,    n, k, j, i, first, last, sum, delay, stay) {
    furniture(step)
    for (i = 0; i < blocks; i++)
        for (j = 0; j < blocks; j++)
            printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n", 52 + j * CELL, TOP + i * CELL, CELL, CELL, ink
    sum = step == "fa1" ? N * d + 2 * N : 0
    text(8, slot_y() + 84, "accesses", "")
    for (n = 1; n <= tiles[step]; n++) {
        j = key[step, n]; i = query[step, n]; delay = (n - 1) * SECONDS
        first = n == 1 || (step == "fa1" ? key[step, n - 1] != j : query[step, n - 1] != i)
        last = n == tiles[step] || (step == "fa1" ? key[step, n + 1] != j : query[step, n + 1] != i)
        for (stay = 1; first && n + stay <= tiles[step] && (step == "fa1" ? key[step, n + stay] == j : query[step, n + stay] == i); )
            stay++
        print "<g" moving("cell from", "from" n) ">"
        block("C", 52 + j * CELL, TOP + i * CELL, "")
        text(52 + (j + 0.5) * CELL, TOP + (i + 0.5) * CELL + 5, n, "")
        print "</g>"
        block("C", 52 + j * CELL, TOP + i * CELL, moving("now", "only" n))
        block("S", slot_x("S") + 4, slot_y() + 4, moving("flight", sprintf("work;--t:%.1fs", delay)))
        if (step == "fa1") {
            if (first) { flight("K", j, "load-" stay, delay); flight("V", j, "load-" stay, delay); sum += 2 * B * d }
            flight("Q", i, "load-1", delay); flight("O", i, "visit", delay)
            sum += 3 * B * d + 4 * B
        } else {
            if (first) { flight("Q", i, "load-" stay, delay); flight("O", i, "keep-" stay, delay); sum += B * d }
            flight("K", j, "load-1", delay); flight("V", j, "load-1", delay)
            sum += 2 * B * d
            if (last) {  # O and lse, stored once
                sum += B * d + B
                block("O", x_of("O", i), y_of("O", i), " fill-opacity=\"0.6\"" moving("from", "stored" n))
            }
        }
        if (n == tiles[step] && step == "fa1") sum += 3 * N  # lse from m and l
        count(step, n, sum)
    }
    if (sum != counted[step]) {
        print step ": the picture makes " sum " accesses, the program counted " counted[step] >"/dev/stderr"
        failed = 1
    }
}

END {
    blocks = N / B; period = blocks * blocks * SECONDS + REST
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 415\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"14\">"
    print "<title>Tiles between slow and fast memory: fa1, fa2, and fa2 with a causal mask</title>"
    print "<style>"
    print "text{fill:#3c444d} .title{font-weight:bold;font-size:16px} .small{font-size:12px} .count{font-weight:bold;opacity:0;text-anchor:end} .last{opacity:1}"
    print ".flight,.now{opacity:0} .now{fill:none;stroke:#000;stroke-width:2.5} .cell text{text-anchor:middle} .cell use{fill:" ink ";fill-opacity:0.2}"
    printf ".flight,.from,.now,.count{animation:var(--m) %.1fs var(--t,0s) infinite}\n", period
    print ".flight{animation-timing-function:ease-in-out} .from,.now,.count{animation-timing-function:step-end}"
    motions()
    print "@media (prefers-reduced-motion:reduce){*{animation:none!important}}"
    print "</style>"
    print "<defs>"
    for (n = split("Q K V O", names); n > 0; n--)
        define(names[n], width_of(names[n]), height_of(names[n]), " rx=\"3\" fill=\"" colour[names[n]] "\"")
    define("S", 26, 26, " rx=\"3\" fill=\"" ink "\"")
    define("C", CELL, CELL, "")
    print "</defs>"
    print "<rect width=\"760\" height=\"415\" fill=\"#ffffff\"/>"
    for (p = 1; p <= 3; p++) {
        printf "<g transform=\"translate(%d 0)\">\n", 8 + (p - 1) * 252
        draw(panel[p])
        print "</g>"
    }
    print "</svg>"
    exit failed
}
