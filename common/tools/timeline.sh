#!/bin/sh
# timeline.sh PROGRAM KERNEL CSV PRODUCTS [OPTION…] - when a GPU's units would work on one block of a kernel, for
# common/tools/plots/timeline.gp: first the rows, "# number name", then "row begin end kind label".
#
# Where a kernel is several launches, it is the first with products. The program says it for every warp; what the warps of a
# warpgroup ask for in one run becomes one box. PRODUCTS are the names of the products, in the order in which they are first
# asked for: "S PV". Two that stand at one place in the source and are asked for in turn have a comma between them:
# "S,dP dV,dK dQ".
program=$1 kernel=$2 csv=$3 products=$4
shift 4
"$program" --device cpu --kernel "$kernel" --quiet --timeline "$csv" "$@" >"$csv.printed" || exit
launch=$(awk -F, '$2 == "tensor cores" { print $1; exit }' "$csv")
awk -F, -v products="$products" -v launch="$launch" '
    function names_of(unit) { return unit == "copies" || unit == "sums" ? unit : unit " " int($3 / 4) + 1 }
    FNR == 1 || $1 != launch || ($2 == "copies" && $8 < 1024) { next }  # a few numbers are no box
    {
        if (!started++) zero = $6
        $6 -= zero
        $7 -= zero
        row = names_of($2)
        box = row "," $4 "," $5
        if (!(box in begin)) {
            order[++boxes] = box
            row_of[box] = row
            begin[box] = $6
            unit[box] = $2
            label[box] = $5
            if ($2 == "tensor cores" && !($9 in product)) product[$9] = ++different
            kind[box] = $2 == "copies" ? 1 : $2 == "sums" ? 2 : $2 == "exponentials" ? 3 : 3 + product[$9]
            turn[box] = $2 == "tensor cores" ? turns[row, $9]++ + 0 : 0
            # Copies that are asked for together and come mixed are one box, and so are sums.
            last = latest[row]
            if (($2 == "copies" || $2 == "sums") && last && $6 < end[last] - 1) {
                if (index(label[last], $5) == 0) label[last] = label[last] " " $5
                boxes--
                alias[box] = last
            } else
                latest[row] = box
        }
        if (box in alias) box = alias[box]
        if ($6 < begin[box]) begin[box] = $6
        if ($7 > end[box]) end[box] = $7
    }
    END {
        for (k = 1; k <= boxes; k++) there[row_of[order[k]]] = 1
        split(products, name, " ")
        n = split("copies;sums;tensor cores 1;tensor cores 2;tensor cores 3;exponentials 1;exponentials 2;exponentials 3", all, ";")
        for (k = 1; k <= n; k++)
            if (all[k] in there) {
                number[all[k]] = rows + 0
                print "#", rows++, all[k]
            }
        for (k = 1; k <= boxes; k++) {
            box = order[k]
            alternatives = split(name[kind[box] - 3], alternative, ",")
            text = kind[box] == 3 ? "P" : kind[box] > 3 ? alternative[turn[box] % alternatives + 1] : label[box]
            parts = split(text, part, " ")
            for (n = 1; n <= parts; n++) nth = count[row_of[box], part[n]]++ + 0
            if (parts > 1) nth = ""  # what comes later counts on from them
            gsub(/ /, "", text)
            print number[row_of[box]], begin[box], end[box], kind[box], text nth
        }
    }' "$csv"
