#!/bin/sh
# answers.sh CHAPTER SEED FILE - the numbers in a student's answers.txt against the right ones.
#
# A line for each, `right|wrong|missing QUESTION.NAME GOT EXPECTED`, and at the end `RIGHT of ALL`.
chapter=$1 seed=$2 file=$3
sh common/classroom/starter/numbers.sh "$chapter/exercise/numbers" "$seed" | awk '
    function number(text) { return text ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ }
    function distance(a, b) { return a > b ? a - b : b - a }
    NR == FNR && $1 == "answer" { name[++all] = $2 "." $3; slack[all] = $4; expected[all] = $5 }
    NR == FNR { next }
    { sub(/\r$/, "") }
    /^[0-9]+\.[A-Za-z_0-9]+ *=/ {
        key = value = $0
        sub(/ *=.*/, "", key)
        sub(/^[^=]*= */, "", value)
        gsub(/[ \t]/, "", value)  # 1 234 is a number too
        got[key] = value
    }
    END {
        for (k = 1; k <= all; k++) {
            given = got[name[k]]
            allowed = slack[k] ~ /%$/ ? slack[k] / 100 * (expected[k] < 0 ? -expected[k] : expected[k]) : slack[k]
            if (given == "") verdict = "missing"
            else if (number(given) && distance(given + 0, expected[k] + 0) <= allowed + 0) { verdict = "right"; right++ }
            else verdict = "wrong"
            if (!number(given)) gsub(/[^-+.0-9A-Za-z]/, "?", given)  # no word or line of its own in what is printed
            print verdict, name[k], (given == "" ? "-" : substr(given, 1, 40)), expected[k]
        }
        print right + 0 " of " all
    }' - "$file"
