#!/bin/sh
# gpu_source.sh FILE LINK NOTES - where a GPU's figures are from, as a line of a page: which GPU it was, by which command,
# when, and where all of them are; nothing if FILE is not of a bench.
#
# FILE: NN_chapter/results/GPU.csv, as bench_cuda.sh writes it, LINK: where the page finds it. Of the notes at its head, such
# as "# PyTorch: an hour before", those are added that are about NOTES, a pattern of awk's.
[ $# -eq 3 ] || { echo "gpu_source.sh: expected a file of results, a link to it, and a pattern of notes" >&2; exit 2; }
awk -v file="${1##*/}" -v link="$2" -v about="^# ($3): " '
    { text = substr($0, 12) }
    /^# machine: / { split(text, part, ": "); machine = part[1]; sub(/, /, ", driver ", machine) }
    /^# toolkit: / { toolkit = text }
    /^# command: make bench-/ { split(text, part, ", "); command = "`" part[1] "`, " part[2] ", " part[3] }
    $0 ~ about { notes = notes " " substr($0, 3) "." }
    END { if (command) printf "%s, %s; %s. All figures: [`%s`](%s).%s\n", machine, toolkit, command, file, link, notes }
' "$1"
