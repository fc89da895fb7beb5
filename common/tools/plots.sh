#!/bin/sh
# plots.sh plots|plots-check BUILD - draws the pictures of the pages, from what the programs print.
#
# Each picture but the animated one names the gnuplot that drew it. plots-check changes nothing and
# fails where a picture is not what would be drawn now; another gnuplot draws a little differently, so
# there it skips.
set -e
mode=$1 build=$2
data=$build/plots
mkdir -p "$data"
stale=0

draw() {  # script, data, picture; its letters are UTF-8
    LC_ALL=C.UTF-8 gnuplot -e "data = '$2'" "common/tools/plots/$1" >"$2.raw"
    sed -e 's|^<desc>.*GNUPLOT \(.*[^ ]\) *</desc>$|<!-- gnuplot \1 -->|' \
        -e 's|<title>.*</title>||' "$2.raw" | python3 common/tools/course.py terse >"$2.svg"
    keep "$2.svg" "$3"
}

keep() {  # what was drawn, picture
    if cmp -s "$1" "$2"; then
        [ "$mode" = plots-check ] || echo "$2 is as it was"
    elif [ "$mode" = plots ]; then
        cp "$1" "$2" && echo "drew $2"
    else
        echo "stale: $2 (make plots draws it)"
        stale=1
    fi
}

# The animated picture takes no gnuplot.
sh common/tools/tiles_flow.sh "$build" "$data"
keep "$data/tiles_flow.svg" 05_flash_tiled_cpu/pages/pictures/tiles_flow.svg

if [ "$mode" = plots-check ]; then
    drawn_by=$(sed -n 's|^<!-- \(gnuplot .*\) -->$|\1|p' $(find 0* -name '*.svg') | sort -u)
    if [ "$drawn_by" != "$(gnuplot --version)" ]; then
        echo "skipped: the pictures were drawn by $drawn_by, and this is $(gnuplot --version)"
        exit $stale
    fi
fi

"$build/03_online_softmax" --rows 1 --cols 64 --seed 4 --trace >"$data/trace"
awk '$5 == "l" && $6 == "=" { print $1, $2, $3, $4 }' "$data/trace" >"$data/running_statistics"
draw 03_running_statistics.gp "$data/running_statistics" 03_online_softmax/pictures/running_statistics.svg

sh common/tools/plots_05.sh "$build" "$data"
for picture in accesses_against_n accesses_against_m extra_memory tile_order block_sparse \
    attention_map percent_of_peak roofline time_against_n; do
    draw "05_$picture.gp" "$data/$picture" "05_flash_tiled_cpu/pages/pictures/$picture.svg"
done
sh common/tools/plots_06.sh "$build" "$data"
for picture in accesses grid lanes memories fragments swizzle; do
    draw "06_$picture.gp" "$data/$picture" "06_flash_tiled_cuda/pages/pictures/$picture.svg"
done

# There are two scales only, so that kernels can be compared.
timeline() {  # chapter, picture, kernel, products, options
    chapter=$1 picture=$2 kernel=$3 products=$4
    shift 4
    sh common/tools/timeline.sh "$build/$chapter" "$kernel" "$data/csv" "$products" --dtype bf16 "$@" \
        >"$data/$chapter-$picture"
    draw timeline.gp "$data/$chapter-$picture" "$chapter/pages/pictures/timeline_$picture.svg"
}
for kernel in wgmma roles; do
    timeline 06_flash_tiled_cuda $kernel $kernel "S PV" --n-q 128 --n-k 512 --d 128
done
timeline 07_backward wgmma cuda_wgmma "S,dP dV,dK dQ" --n-q 256 --n-k 128 --d 64

sh common/tools/plots_07.sh "$build" "$data"
draw 07_accesses_against_m.gp "$data/backward_against_m" 07_backward/pages/pictures/accesses_against_m.svg
draw 07_loss_curves.gp "$data/loss_curves" 07_backward/pages/pictures/loss_curves.svg
draw 07_products.gp "$data/products" 07_backward/pages/pictures/products.svg
draw 07_dS.gp "$data/dS" 07_backward/pages/pictures/dS.svg
draw 07_percent_of_peak.gp "$data/backward_percent_of_peak" 07_backward/pages/pictures/percent_of_peak.svg

# Of a chapter whose ladder no GPU has ladder_output there is no such picture.
for chapter in 06_flash_tiled_cuda 07_backward; do
    # shellcheck disable=SC2046  # names
    sh common/tools/plots_gpu.sh $chapter/results/nvidia_h200.csv $(sh common/tools/kernels_of.sh "$build/$chapter" bf16) \
        >"$data/$chapter-gpu"
    ! grep -q '^[1-9]' "$data/$chapter-gpu" || draw gpu_ladder.gp "$data/$chapter-gpu" $chapter/pages/pictures/gpu_ladder.svg
done
exit $stale
