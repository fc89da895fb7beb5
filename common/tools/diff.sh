#!/bin/sh
# diff.sh OLD NEW - a lesson beside the one before: side by side where the terminal is wide enough.
old=$1 new=$2
if [ ! -f "$old" ]; then
    echo "$new is the first lesson there is: nothing to compare it with"
    exit 0
fi
columns=$( (stty size <&1 | cut -d' ' -f2) 2>/dev/null)
colour=never
[ -t 1 ] && [ -z "$NO_COLOR" ] && diff --color=always /dev/null /dev/null 2>/dev/null && colour=always
[ "$colour" = always ] && colour=--color=always || colour=
if [ "${columns:-0}" -ge 160 ]; then
    echo "$old  |  $new"
    diff $colour --side-by-side --width="$columns" "$old" "$new"
else
    diff $colour -U 100 "$old" "$new"
fi
[ $? -le 1 ]
