#!/bin/sh
# lesson_diff.sh [-b] OLD NEW [START_OLD START_NEW] - what is new in a lesson's code: its functions only,
# or the one that begins like START, without the comments and without the name. With -b lines that have only
# moved to the right are not marked, and stand where they are now.
moved=
[ "$1" != -b ] || { moved=$1; shift; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
lesson() {  # file, how its first line begins
    sed -n "/^$2/,/^}/p" "$1" | grep -v -e SOLUTION -e STUB | sed 's,  *// [0-9][0-9, to]*$,,'
}
lesson "$1" "${3:-void}" >"$work/old"
lesson "$2" "${4:-void}" >"$work/new"
if [ -z "$moved" ]; then
    diff -U 10 "$work/old" "$work/new" | sed '1,3d'
    exit
fi

# diff takes unmarked lines from its first file: so that is the new one, and + and - are exchanged.
diff -b -U 10 "$work/new" "$work/old" | sed '1,3d' | awk '
    function flush() { printf "%s%s", removed, added; removed = added = "" }
    /^-/ { added = added "+" substr($0, 2) "\n"; next }
    /^\+/ { removed = removed "-" substr($0, 2) "\n"; next }
    { flush() }
    /^@@/ { print "@@ -" substr($3, 2), "+" substr($2, 2), "@@"; next }
    { print }
    END { flush() }'
