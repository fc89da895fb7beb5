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

# key, row, lane: as in kernels/registers.cuh
awk 'BEGIN {
    for (row = 0; row < 16; row++)
        for (key = 0; key < 32; key++)
            print key, row, row % 4 * 8 + key % 8
}' >"$data/lanes"
