#!/bin/sh
# queue_order.sh MULTIPROCESSORS TILES SOME HEADS... - when the last tile of queries is done in causal order, as a table.
#
# A head has TILES tiles of queries, and tile t sees t tiles of keys, each of which takes one unit of time; nothing else
# takes any. Who is done takes the next tile: of the same head, the shortest first, as blocks are numbered where they do
# not stay; or of SOME heads the longest first, then of the next heads, as in 06_flash_tiled_cuda/kernels/queue.h. No order
# ends before everybody has had the same share, nor before the longest tile is done.
processors=$1 tiles=$2 some=$3
shift 3
echo '| heads | tiles of queries | in the order of their numbers | the longest first | at best |'
echo '|---|---|---|---|---|'
for heads; do
    awk -v P="$processors" -v T="$tiles" -v S="$some" -v H="$heads" '
        function ends(longest_first,    n, k, length_of, who, last, before, here) {
            split("", busy)
            last = 0
            for (n = 0; n < T * H; n++) {
                before = int(n / (S * T)) * S
                here = H - before < S ? H - before : S
                length_of = longest_first ? T - int((n - before * T) / here) : n % T + 1
                who = 1
                for (k = 2; k <= P; k++)
                    if (busy[k] + 0 < busy[who] + 0) who = k
                busy[who] += length_of
                if (busy[who] > last) last = busy[who]
            }
            return last
        }
        BEGIN {
            share = int((H * T * (T + 1) / 2 + P - 1) / P)
            printf "| %d | %d | %d | %d | %d |\n", H, T * H, ends(0), ends(1), (share > T ? share : T)
        }'
done
