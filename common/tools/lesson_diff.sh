#!/bin/sh
# lesson_diff.sh OLD NEW - what is new in a lesson's code: its function only, without the comments.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for file in "$1" "$2"; do
    sed -n '/^void/,/^}/p' "$file" | grep -v -e SOLUTION -e STUB >"$work/$(basename "$file")"
done
diff -U 10 "$work/$(basename "$1")" "$work/$(basename "$2")" | sed '1,3d'
