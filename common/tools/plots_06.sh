#!/bin/sh
# plots_06.sh BUILD DATA - the numbers of chapter 06's pictures.
set -e
build=$1 data=$2
values() { sed 1d "$data/csv"; }  # of the --csv of the last run

# kernel N accesses; 05's standard attention with tiles for as much fast memory
for N in 64 128 256; do
    "$build/06_flash_tiled_cuda" --device cpu --kernel all --n-q $N --d 64 --csv "$data/csv" >"$data/printed"
    values | awk -F, -v N=$N '{ print $2, N, $8 }'
    "$build/05_flash_tiled_cpu" --kernel standard --n-q $N --d 64 --sram 12288 --traffic --csv "$data/csv" \
        >"$data/printed"
    values | awk -F, -v N=$N '{ print "standard", N, $3 }'
done >"$data/accesses"

# kernel, tile of keys, tile of queries, block of threads, when: 4 by 8 tiles of a head
awk 'BEGIN {
    for (i = 0; i < 4; i++)
        for (j = 0; j < 8; j++) {
            print "fa1", j, i, 0, 4 * j + i + 1
            print "fa2", j, i, i, j + 1
        }
}' >"$data/grid"

# key, row, lane: as in kernels/parts/registers.cuh
awk 'BEGIN {
    for (row = 0; row < 16; row++)
        for (key = 0; key < 32; key++)
            print key, row, row % 4 * 8 + key % 8
}' >"$data/lanes"

# level, half its width, name, whose, how large, what it is on this machine: as results/device.csv says
awk -F, -v OFS='\t' '
    /^# machine/ { print }
    /^#/ { next }
    { of[$1 "," $2] = $3 }
    function kilo(bytes) { return sprintf(bytes < 1e6 ? "%.0f kB" : bytes < 1e9 ? "%.1f MB" : "%.1f GB", \
        bytes / (bytes < 1e6 ? 1e3 : bytes < 1e9 ? 1e6 : 1e9)) }
    END {
        print 1, 2.6, "registers", "a thread\047s", "as many as the compiler needs", \
            sprintf("the core: %.0f GFLOP/s; as a GPU, %.0f on all cores", \
                of["core,GFLOP/s of multiplying and adding"], of["cpu,GFLOP/s of a kernel that multiplies and adds"])
        print 2, 3.7, "shared memory", "a block\047s", kilo(of["cpu,bytes of shared memory a block"]) " a block", \
            "the caches of a core: " kilo(of["core,bytes of L1 cache"]) " of L1, " kilo(of["core,bytes of L2 cache"]) " of L2"
        print 3, 4.8, "global memory", "everybody\047s", kilo(of["cpu,bytes of global memory"]), \
            sprintf("the machine\047s: a core copies %.0f GB/s; as a GPU, %.0f GB/s on all cores", \
                of["core,GB/s of copying"], of["cpu,GB/s of a kernel that copies"])
    }' 06_flash_tiled_cuda/results/device.csv >"$data/memories"

# x, y, lane: as in common/cuda/tensor.h; A from x = 0 on, B from 19, D from 30
awk 'BEGIN {
    for (lane = 0; lane < 32; lane++) {
        g = int(lane / 4); t = lane % 4
        for (which = 0; which < 2; which++) {
            for (r = 0; r < 4; r++)
                print 2 * t + 8 * int(r / 2) + which, g + 8 * (r % 2), lane
            for (r = 0; r < 2; r++) {
                print 19 + g, 2 * t + 8 * r + which, lane
                print 30 + 2 * t + which, g + 8 * r, lane
            }
        }
    }
}' >"$data/fragments"

# x, row, piece: as in kernels/parts/swizzle.cuh; as they come from x = 0 on, swizzled from 10
awk 'BEGIN {
    for (row = 0; row < 8; row++)
        for (piece = 0; piece < 8; piece++) {
            print piece, row, piece
            turned = 0  # piece xor row
            for (bit = 1; bit < 8; bit *= 2)
                turned += int(piece / bit) % 2 != int(row / bit) % 2 ? bit : 0
            print 10 + turned, row, piece
        }
}' >"$data/swizzle"
