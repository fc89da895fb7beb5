#!/bin/sh
# plots.sh BUILD - draws the pictures of the pages, from what the programs print.
build=$1
data=$build/plots
mkdir -p "$data"

draw() {  # script, data, picture
    gnuplot -e "data = '$2'" "common/plots/$1" | grep -v '<desc>' >"$2.svg" &&
        [ -s "$2.svg" ] && mv "$2.svg" "$3" && echo "drew $3"
}

"$build/03_online_softmax" --rows 1 --cols 64 --seed 4 --trace |
    awk '$5 == "l" && $6 == "=" { print $1, $2, $3, $4 }' >"$data/running_statistics"
draw 03_running_statistics.gp "$data/running_statistics" 03_online_softmax/running_statistics.svg
