#!/bin/sh
# diff.sh OLD NEW CHAPTER - a lesson against the one before, side by side if the terminal is wide.
old=$1 new=$2 chapter=$3
if [ ! -f "$old" ]; then
    echo "$new is the first lesson there is: nothing to compare it with"
    exit 0
fi
exec 3>&1  # inside $() standard output is no terminal
columns=$( (stty size <&3 | cut -d' ' -f2) 2>/dev/null)
colour=''
if [ -t 1 ] && [ -z "$NO_COLOR" ]; then
    diff --color=always /dev/null /dev/null >/dev/null 2>&1 && colour=--color=always
fi
if [ "${columns:-0}" -ge 160 ]; then
    echo "$old  |  $new"
    diff $colour --side-by-side --width="$columns" "$old" "$new"
else
    diff $colour -U 100 --label "$old" --label "$new" "$old" "$new"
fi
[ $? -le 1 ] || exit 2

others=$(ls "$chapter"/*.c | grep -v -e "^$new\$" -e /main.c -e /counted.c -e /story.c)
[ -z "$others" ] || printf '\nAlso new in this chapter: %s\n' "$(echo $others)"
