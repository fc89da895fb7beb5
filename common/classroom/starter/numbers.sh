#!/bin/sh
# numbers.sh FILE [SEED] - SEED's figures in an exercise's questions, and the answers. FILE is an exercise/numbers
# (the README.md above). Prints lines
#
#     figure QUESTION NAME PUBLISHED NOW
#     answer QUESTION NAME TOLERANCE VALUE
#
# SEED 0 leaves the figures as published.
file=$1 seed=${2:-0}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# Awk cannot evaluate a string, so the expressions become a program. Each question has its own names.
sed -e 's/#.*//' -e '/^ *$/d' "$file" | awk -v seed="$seed" '
    BEGIN {
        print "function ceil(x) { return x == int(x) ? x : int(x) + (x > 0) }"
        print "function min(x, y) { return x < y ? x : y }"
        print "function max(x, y) { return x > y ? x : y }"
        print "function tell(q, name, slack, x) { printf \"answer %s %s %s %.10g\\n\", q, name, slack, x }"
        print "BEGIN {"
    }
    $1 == "figure" {
        others = NF - 4
        draw = int((seed * 7919 + $2 * 104729 + seed * $2 * 31) % 99991 / 7)  # one per question
        now = seed == 0 || others == 0 ? $4 : $(5 + draw % others)
        printf "print \"figure %s %s %s %s\"; %s = %s\n", $2, $3, $4, now, $3, now
        next
    }
    $1 == "let" {
        name = $3
        $1 = $2 = $3 = ""
        printf "%s = %s\n", name, $0
        next
    }
    $1 == "answer" {
        q = $2; name = $3; slack = $4
        $1 = $2 = $3 = $4 = ""
        printf "tell(\"%s\", \"%s\", \"%s\", %s)\n", q, name, slack, $0
        next
    }
    { print FILENAME ": " $1 ": expected figure, let or answer" >"/dev/stderr"; exit 2 }
    END { print "}" }' >"$work/program" || exit 2
awk -f "$work/program" || exit 2
