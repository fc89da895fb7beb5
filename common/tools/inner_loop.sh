#!/bin/sh
# inner_loop.sh OBJECT LINES - the first LINES instructions of the loop that is densest in multiply-adds.
objdump -d --no-show-raw-insn "$1" | awk -v lines="$2" '
    /^[0-9a-f]+ <.*>:$/ { n = 0; next }
    $1 ~ /^[0-9a-f]+:$/ {
        address = $1; sub(/:$/, "", address)
        text = $0; sub(/^ *[0-9a-f]+:\t/, "", text); sub(/ *<.*>$/, "", text); sub(/ +#.*$/, "", text)
        at[address] = ++n; line[n] = text
        if ($2 ~ /^j/ && ($3 in at)) {  # a jump back: from there to here is a loop
            count = 0
            for (k = at[$3]; k < n; k++) count += line[k] ~ /^v?fn?m(add|sub|la)/
            if (count >= 8 && count / (n - at[$3] + 1) > dense) {
                most = count; length_of = n - at[$3] + 1; dense = count / length_of
                for (k = 0; k < lines && k < length_of; k++) best[k] = line[at[$3] + k]
                shown = k
            }
        }
        if (n == 1) for (a in at) if (at[a] != 1) delete at[a]
    }
    END {
        for (k = 0; k < shown; k++) {
            split(best[k], word, /[ \t]+/)
            operands = best[k]; sub(/^[^ \t]+[ \t]*/, "", operands)
            printf "%-14s %s\n", word[1], operands
        }
        print "and so on: " length_of " instructions, " most " of them multiply-adds"
    }'
