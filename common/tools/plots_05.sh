#!/bin/sh
# plots_05.sh BUILD DATA - the numbers of chapter 05's pictures, from counted runs and traces.
set -e
build=$1 data=$2
run() { "$build/05_flash_tiled_cpu" "$@" >"$data/printed" 2>"$data/said"; }
values() { sed 1d "$data/csv"; }  # of the --csv of the last run

# step N accesses, bytes stored whole, bytes of fast memory: for a fast memory of 192 kB. With tiles
# of one query, `standard` goes through Q, K, S, P, V and O just as chapter 04 does.
for N in 64 128 256 512; do
    run --kernel all --n-q $N --d 64 --sram 49152 --csv "$data/csv"
    values | awk -F, -v N=$N '{ print $2, N, $5, $7, $8 }'
    run --kernel standard --br 1 --n-q $N --d 64 --traffic --csv "$data/csv"
    values | awk -F, -v N=$N '{ print "row_by_row", N, $3 }'
    "$build/04_flash_no_tiling" --n-q $N --d 64 --traffic --csv "$data/csv" >"$data/printed"
    values | awk -F, -v N=$N '{ print "one_pass", N, $3, "-", $4 }'
done >"$data/accesses_against_n"
cp "$data/accesses_against_n" "$data/extra_memory"

# step M accesses, for N = 256 and d = 32, as in the program's Theorem 2; fa2_paper has fa1's tiles
for M in 32 64 128 256 512 1024 2048 4096 8192; do
    run --kernel all --n-q 256 --d 32 --sram $M --csv "$data/csv"
    values | awk -F, -v M=$M '{ print $2, M, $5 }'
    tile=$(values | awk -F, '$2 == "fa1" { print "--br", $3, "--bc", $4 }')
    # shellcheck disable=SC2086
    run --kernel fa2 $tile --n-q 256 --d 32 --traffic --csv "$data/csv"
    values | awk -F, -v M=$M '{ print "fa2_paper", M, $3 }'
done >"$data/accesses_against_m"

# step, when, key, query, visible: every pair of 8 by 8, in the order in which its tile is done
for step in fa1 fa2 masks; do
    causal=''
    [ $step != masks ] || causal=--causal
    run --kernel $step $causal --n-q 8 --d 4 --br 2 --bc 2 --trace=csv
    awk -F, -v step=$step '
        $5 == "S" {
            if ($3 "," $4 != tile) { when++; tile = $3 "," $4 }
            print step, when, $3 + $7, $4 + $6, ($8 != "-inf")
        }' "$data/printed"
done >"$data/tile_order"

# blocks kept, of how many, accesses: tiles that are the mask's blocks, N = 512, d = 32
for density in 0 0.1 0.2 0.3 0.5 0.7 0.9 1; do
    for seed in 1 2 3; do
        run --kernel masks --block-mask random:$density:$seed --mask-block 32,32 --br 32 --bc 32 \
            --n-q 512 --d 32 --traffic --csv "$data/csv"
        tiles='s|^ *\([0-9]*\) tiles full, 0 partial, \([0-9]*\) skipped$|\1 \2|p'
        sed -n "$tiles" "$data/printed" |
            awk -v accesses="$(values | cut -d, -f3)" '{ print $1, $1 + $2, accesses }'
    done
done >"$data/block_sparse"

# query, key, weight, their tokens: the first 24 tokens in head 0 of the real input. O = P V, so
# with 1 for V[j][j] and 0 elsewhere, element j of query i's output is the weight P[i][j] itself.
ones=32 N=164 d=32 heads=8 show=24
zeros() { head -c $((4 * $1)) /dev/zero; }
{
    head -c 128 common/data/v.npy  # the header: the same shape
    for _ in $(seq $heads); do
        for _ in $(seq $ones); do
            printf '\000\000\200\077'  # 1.0
            zeros $d
        done
        zeros $((N * d - ones * (d + 1)))
    done
} >"$data/ones.npy"
run --q common/data/q.npy --k common/data/k.npy --v "$data/ones.npy" --output "$data/p.npy" --quiet
od -A n -v -t f4 -j 128 -N $((4 * show * d)) "$data/p.npy" | awk -v d=$d -v show=$show '
    NR == FNR { if ($1 == 0) token[$2] = $3; next }
    {
        for (k = 1; k <= NF; k++) {
            i = int(n / d); j = n++ % d
            if (j < show) print i, j, $k, token[i], token[j]
        }
    }' common/data/tokens.txt - >"$data/attention_map"

# The three pictures of speed come from the results that are kept.
results=$data/results_05
sh common/peers/results.sh get 05 common/results/intel_xeon_2_cores.csv >"$results"
ladder=$(grep '^05,.*,f32,1,1,' "$results")

# place, kernel, per cent of the peak: d 64, causal, d 128, causal
echo "$ladder" | awk -F, '
    !($2 in place) { place[$2] = ++count; name[count] = $2 }
    { percent[$2, $7, $8] = 100 * $13 }
    function of(k, d, causal) { return (name[k], d, causal) in percent ? percent[name[k], d, causal] : "NaN" }
    END { for (k = 1; k <= count; k++) print k, name[k], of(k, 64, 0), of(k, 64, 1), of(k, 128, 0), of(k, 128, 1) }
' >"$data/percent_of_peak"

# operations a byte, GFLOP/s on one core, and a name, or "" where it would be written over the one
# before. The steps make the accesses of complete, with tiles of 32 queries.
intensity() {  # step and tiles -> 4 d pairs / (4 bytes x accesses)
    # shellcheck disable=SC2086
    run --kernel $1 --n-q 2048 --d 64 --traffic --csv "$data/csv"
    values | awk -F, '{ print 64 * 2048 * 2048 / $3 }'
}
standard=$(intensity standard) fa2=$(intensity fa2) steps=$(intensity 'complete --br 32')
{
    sed -n 's/^# one core: \(.*\) GFLOP.s of FMA, \(.*\) GB.s copied$/roof \2 \1/p' "$results"
    echo "$ladder" | awk -F, -v standard="$standard" -v fa2="$fa2" -v steps="$steps" '
        $7 == 64 && $8 == 0 && $10 == 1 {
            x[++n] = $2 == "standard" ? standard : $2 == "fa2" ? fa2 : steps
            y[n] = $12
            name[n] = $2
            shown = n > 1 && x[n] == x[n - 1] && y[n] < 1.25 * y[first] ? first : n
            if (shown == n) first = n
            else { name[first] = name[first] ", " $2; name[n] = "" }
        }
        END { for (k = 1; k <= n; k++) print x[k], y[k], "\"" name[k] "\"" }'
} >"$data/roofline"

# causal, name, N, nanoseconds a pair: eight heads, d = 64, on all cores
awk -F, '
    /^#/ || $5 == 1 || $7 != 64 { next }
    $10 > most { most = $10 }
    {
        split($2, name, " ")
        pairs = $4 * $5 * ($8 ? $6 * ($6 + 1) / 2 : $6 * $6)
        line[++n] = $8 " " name[1] " " $6 " " 1e6 * $11 / pairs; threads[n] = $10
    }
    END { for (k = 1; k <= n; k++) if (threads[k] == most) print line[k] }' "$results" >"$data/time_against_n"
