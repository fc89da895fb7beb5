#!/bin/sh
# run.sh BUILD CHAPTER... - runs the chapters on the real input, then prints a table.
build=$1
shift
mkdir -p "$build/run"
bad=0 tables=''
# Waiting threads soon yield their core; otherwise times on a busy machine are a hundred times too long.
export GOMP_SPINCOUNT="${GOMP_SPINCOUNT:-1000}"

for chapter; do
    csv=$build/run/$chapter.csv
    rm -f "$csv"
    "$build/$chapter" --quiet --csv "$csv"
    status=$?
    [ -f "$csv" ] && tables="$tables $csv"
    [ "$status" -eq 0 ] || { bad=1; echo "    $chapter ended with status $status"; }
done

echo
# At most 80 columns. Some awks count bytes, not characters.
# shellcheck disable=SC2086
awk -F, '
    function right(text, width,    plain) {
        plain = text
        gsub(/…/, ".", plain)
        return sprintf("%" (width > length(plain) ? width - length(plain) : 0) "s", "") text
    }
    function row(name, counted, formula, memory, error, previous, time) {
        printf "%-19s %s %s %s %s %s %s\n", name, right(counted, 10), right(formula, 13), right(memory, 7),
            right(error, 8), right(previous, 8), right(time, 9)
    }
    function grouped(n,    text) {
        for (text = ""; length(n) > 3; n = substr(n, 1, length(n) - 3))
            text = " " substr(n, length(n) - 2) text
        return n text
    }
    function bytes(n) {
        if (n == 0) return "none"
        if (n < 10000) return n " B"
        if (n < 999500) return sprintf("%.3g kB", n / 1000)
        return sprintf("%.3g MB", n / 1000000)
    }
    function duration(ms) {  # on a CPU a kernel has none
        return ms >= 999.5 ? sprintf("%.3g s", ms / 1000) : ms > 0 ? sprintf("%.3g ms", ms) : "-"
    }
    function short(error) { return sprintf("%.1e", error) }
    BEGIN {
        row("", "accesses", "", "extra", "error vs", "error vs", "")
        row("chapter", "counted", "formula", "memory", "double", "previous", "time")
    }
    FNR == 2 {
        name = FILENAME
        gsub(/.*\/|\.csv$/, "", name)
        gsub(/_/, " ", name)
        row(name, grouped($3), $2, bytes($4), short($6), ($7 == "" ? "-" : short($8)), duration($5))
        rows++
    }
    END { exit rows == 0 }' $tables </dev/null || { echo "    no table: awk failed, or no chapter left its row" >&2; bad=1; }

[ "$bad" -eq 0 ] || { echo; echo "Something is wrong: see the lines above the table."; exit 1; }
cat <<TEXT

What changes from one stage to the next is not the result. It is how often the
stage goes to slow memory for it, and how much it has to keep there.

Read first: $1/README.md
One chapter by itself: make $(echo "$1" | cut -c1-2)
TEXT
