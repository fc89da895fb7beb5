#!/bin/sh
# lesson_diff.sh OLD NEW [START_OLD START_NEW] - what is new in a lesson's code: its functions only,
# or the one that begins like START, without the comments and without the name.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
lesson() {  # file, how its first line begins
    sed -n "/^$2/,/^}/p" "$1" | grep -v -e SOLUTION -e STUB | sed 's,  *// [0-9][0-9, to]*$,,'
}
lesson "$1" "${3:-void}" >"$work/old"
lesson "$2" "${4:-void}" >"$work/new"
diff -U 10 "$work/old" "$work/new" | sed '1,3d'
