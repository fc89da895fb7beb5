#!/bin/sh
# tiles_flow.sh BUILD DATA - the animated picture of chapter 05, from the program's trace and its counts.
set -e
build=$1 data=$2
for step in fa1 fa2 masks; do
    causal=''
    [ $step != masks ] || causal=--causal
    options="--kernel $step $causal --n-q 8 --d 4 --br 2 --bc 2"
    # shellcheck disable=SC2086
    "$build/05_flash_tiled_cpu" $options --trace=csv 2>"$data/said" |
        awk -F, -v step=$step '$5 == "S" && $6 == 0 && $7 == 0 { print "tile", step, $3, $4 }'
    # shellcheck disable=SC2086
    "$build/05_flash_tiled_cpu" $options --traffic --csv "$data/csv" >"$data/printed"
    awk -F, -v step=$step 'NR > 1 { print "counted", step, $3 }' "$data/csv"
done >"$data/tiles_flow"
awk -v N=8 -v d=4 -v B=2 -f common/tools/plots/05_tiles_flow.awk "$data/tiles_flow" >"$data/tiles_flow.svg"
