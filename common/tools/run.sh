#!/bin/sh
# run.sh BUILD CHAPTER... - runs the chapters in order on the real input, then the course in a table.
build=$1
shift
mkdir -p "$build/run"
bad=0 tables=''

for chapter; do
    csv=$build/run/$chapter.csv
    rm -f "$csv"
    "$build/$chapter" --quiet --csv "$csv"
    status=$?
    [ -f "$csv" ] && tables="$tables $csv"
    [ "$status" -eq 0 ] || { bad=1; echo "    $chapter ended with status $status"; }
done

echo
# shellcheck disable=SC2086
awk -F, '
    BEGIN {
        row = "%-28s %12s %11s %10s %13s %13s %10s\n"
        printf row, "", "accesses", "", "extra", "error against", "against the", ""
        printf row, "chapter", "counted", "formula", "memory", "double", "stage before", "time"
    }
    function grouped(n,    text) {
        for (text = ""; length(n) > 3; n = substr(n, 1, length(n) - 3))
            text = " " substr(n, length(n) - 2) text
        return n text
    }
    function bytes(n) {
        if (n == 0) return "none"
        if (n < 10000) return n " B"
        if (n < 10000000) return sprintf("%.1f kB", n / 1000)
        return sprintf("%.1f MB", n / 1000000)
    }
    FNR == 2 {
        name = FILENAME
        gsub(/.*\/|\.csv$/, "", name)
        gsub(/_/, " ", name)
        printf row, name, grouped($3), $2, bytes($4), $6, ($7 == "" ? "-" : $8),
            ($5 > 0 ? sprintf("%.3g ms", $5) : "-")  # a kernel on a CPU has no time to tell
    }' $tables </dev/null || { echo "run.sh: $(command -v awk) could not write the table" >&2; exit 1; }

[ "$bad" -eq 0 ] || { echo; echo "Something is wrong: see the lines above the table."; exit 1; }
cat <<TEXT

What changes from one stage to the next is not the result. It is how often the stage goes to slow
memory for it, and how much it has to keep there.

Read first: $1/README.md.  Hear one chapter's story: make $(echo "$1" | cut -c1-2)
TEXT
