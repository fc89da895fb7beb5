#!/bin/sh
# plots_07.sh BUILD DATA - the numbers of chapter 07's pictures, from counted runs and a training.
set -e
build=$1 data=$2
run() { "$build/07_backward" "$@" >"$data/printed" 2>"$data/said"; }

# step M accesses, for N = 256 and d = 32, as in the program's table
for M in 32 64 128 256 512 1024 2048 4096 8192; do
    run --kernel all --n-q 256 --d 32 --sram $M --quiet --csv "$data/csv"
    sed 1d "$data/csv" | awk -F, -v M=$M '{ print $2, M, $5 }'
done >"$data/backward_against_m"

# step and three losses
run --train --quiet --csv "$data/csv"
sed 1d "$data/csv" | tr , ' ' >"$data/loss_curves"

# A rectangle for each operand and result, with Br = 5, Bc = 9 and d = 6, and a sign beside it.
awk 'BEGIN {
    Br = 5; Bc = 9; d = 6
    product(1, 1, "Q", Br, d, "query", "K^T", d, Bc, "key", "S", "pair")
    product(40, 1, "dO", Br, d, "query", "V^T", d, Bc, "key", "dP", "pair")
    product(1, 12, "P^T", Bc, Br, "pair", "dO", Br, d, "query", "dV", "key")
    product(40, 12, "dS^T", Bc, Br, "pair", "Q", Br, d, "query", "dK", "key")
    product(1, 24, "dS", Br, Bc, "pair", "K", Bc, d, "key", "dQ", "query")
}
function product(x, y, a, a_rows, a_cols, a_of, b, b_rows, b_cols, b_of, c, c_of) {
    print x, y, a_cols, a_rows, a_of, a, x + a_cols + 1.2, y + 2.5, "×"
    x += a_cols + 2.4
    print x, y, b_cols, b_rows, b_of, b, x + b_cols + 1.2, y + 2.5, "="
    x += b_cols + 2.4
    print x, y, b_cols, a_rows, c_of, c, x, y, ""
}' | sed 's/ $/ " "/' >"$data/products"

# x, y, lane, whether lane 9 made it: dS^T as mma leaves it, and from x = 20 on dS as mma wants it for dQ (common/cuda/tensor.h)
awk 'BEGIN {
    for (lane = 0; lane < 32; lane++)
        for (r = 0; r < 4; r++)
            for (which = 0; which < 2; which++) {
                x = 2 * (lane % 4) + 8 * int(r / 2) + which
                y = int(lane / 4) + 8 * (r % 2)
                of[x, y] = lane
            }
    for (x = 0; x < 16; x++)
        for (y = 0; y < 16; y++) {
            print x, y, of[x, y], (of[x, y] == 9)
            print 20 + x, y, of[x, y], (of[y, x] == 9)
        }
}' >"$data/dS"

# place, step and threads, per cent of the peak for d 64, causal, d 128, causal, and N: from the results that
# are kept
sh common/peers/results.sh get 07 common/results/intel_xeon_2_cores.csv | grep '^07,.*,f32,1,1,' | awk -F, '
    { step = $2 ", " $10 ($10 == 1 ? " thread" : " threads") }
    !(step in place) { place[step] = ++count; name[count] = step }
    { percent[step, $7, $8] = 100 * $13; N = $6 }
    function of(k, d, causal) { return (name[k], d, causal) in percent ? percent[name[k], d, causal] : "NaN" }
    END {
        for (k = 1; k <= count; k++)
            print k, "\"" name[k] "\"", of(k, 64, 0), of(k, 64, 1), of(k, 128, 0), of(k, 128, 1), N
    }' >"$data/backward_percent_of_peak"
