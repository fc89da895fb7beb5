#!/bin/sh
# compare.sh BUILD INPUT MINE CHAPTER... - all stages on one input, each held against the next.
#
# MINE, unless it is empty, is a .npy file with your own output for INPUT; it comes last.
build=$1 input=$2 mine=$3
shift 3
folder=$build/stages
mkdir -p "$folder"
outputs=''

for chapter; do
    case $chapter in 0[1-3]_*) ;; *) continue ;; esac
    "$build/$chapter" --quiet --input "$input" --output "$folder/$chapter.npy" >/dev/null
    [ $? -le 1 ] || exit 2
    outputs="$outputs $folder/$chapter.npy"
done
# shellcheck disable=SC2086
"$build/compare" --softmax "$input" $outputs ${mine:+"$mine"}
