#!/bin/sh
# diff.sh OLD NEW CHAPTER STEP [PROGRAM] - compares a lesson with the one before, side by side on wide
# terminals. If the chapter's PROGRAM lists STEP: that step with the one before.
old=$1 new=$2 chapter=$3 step=$4 program=$5
# shellcheck disable=SC2046  # names
set -- $([ -z "$program" ] || "$program" --step list | sed 's/^ *[0-9]* *\([a-z0-9_]*\) .*/\1/')
file_of() {  # step -> its file
    for file in "$chapter/steps/$1.c" "$chapter/fast/$1.c" "$chapter"/kernels/*/"${1#cuda_}.cu"; do
        [ ! -f "$file" ] || { echo "$file"; return; }
    done
}
if [ -n "$step" ]; then
    old=''
    for name; do
        [ "$name" = "$step" ] && break
        old=$(file_of "$name")
    done
    new=$(file_of "$step")
    [ $# -gt 0 ] || { echo "STEP=$step: expected none, as ${chapter%%_*} has one lesson" >&2; exit 2; }
    [ "$name" = "$step" ] || { echo "STEP=$step: expected one of: $*" >&2; exit 2; }
fi
if [ ! -f "$old" ]; then
    echo "$new is the first there is: nothing to compare it with"
    exit 0
fi
exec 3>&1  # standard output, which in $() is no terminal
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

[ -z "$step" ] || exit 0
[ $# -eq 0 ] || { printf '\nEach step against the one before it: add STEP=..., one of: %s\n' "$*"; exit 0; }
others=$(ls "$chapter"/*.c | grep -v -e "^$new\$" -e /main.c -e /story.c)
[ -z "$others" ] || printf '\nAlso new in this chapter: %s\n' "$(echo $others)"
