#!/bin/sh
# cachegrind.sh PROGRAM - chapter 05's counts beside the misses of a cache that valgrind simulates.
#
# PROGRAM is 05_flash_tiled_cpu/tests/cachegrind.c. It runs a step once and twice: the difference is
# one run, without the start. Nothing here is a time: the same compiler and C library give the same
# figures, others differ in the third digit.
program=$1
N=256 d=32 M=4096

if ! valgrind=$(command -v valgrind); then
    echo "skipped: this needs valgrind, in the package of that name (apt-get install valgrind)"
    exit 77
fi

# The environment and the program's path lie on the stack, and move what else does: so there is no
# environment, and the path is as long on every machine.
work=$(mktemp -d /tmp/cachegrind.XXXXXX) || exit 2
trap 'rm -rf "$work"' EXIT
cp "$program" "$work/program" && cd "$work" || exit 2

misses() {  # step, M of its tiles, runs: of loads and stores, in a cache of M floats
    env -i "$valgrind" --tool=cachegrind --cache-sim=yes --cachegrind-out-file=out \
        --I1=32768,8,64 --D1=$((4 * M)),$((4 * M / 64)),64 --LL=8388608,16,64 \
        ./program "$1" $N $d "$2" "$3" >log 2>&1 || { cat log >&2; return 2; }
    awk '$1 == "events:" { for (k = 2; k <= NF; k++) column[$k] = k }
         $1 == "summary:" { print $column["D1mr"] + $column["D1mw"] }' out
}

row() {  # its name, step, M of its tiles, accesses that find their line still there
    once=$(misses "$2" "$3" 1) && twice=$(misses "$2" "$3" 2) &&
        counted=$(./program "$2" $N $d "$3" count) || exit 2
    echo "$1,$3,$counted,$4,$((16 * (twice - once)))" | awk -F, '
        function grouped(n,    text) {
            for (text = ""; length(n) > 3; n = substr(n, 1, length(n) - 3))
                text = " " substr(n, length(n) - 2) text
            return n text
        }
        { printf "%-14s %10s %13s %13s %13s %9.2f\n", $1, $1 ~ /^04/ ? "-" : grouped($2),
              grouped($3), grouped($4), grouped($5), $5 / ($3 - $4) }'
}

echo "N = $N, d = $d; a cache of M = $M floats, in lines of 16; what was used longest ago goes first"
echo
printf '%-14s %10s %13s %13s %13s %9s\n' \
    step 'tiles for' 'a: counted' 'b: again' 'c: moved' 'c / (a-b)'
row '04 standard' row_by_row $M $((2 * N * N))
for tiles in $M $((M / 2)) $((M / 4)); do
    row '05 standard' standard "$tiles" $((2 * N * N))
done
for tiles in $M $((M / 2)) $((M / 4)); do
    Tc=$((N * 4 * d / tiles))
    row '05 fa1' fa1 "$tiles" $((Tc * (N * d + 2 * N)))
done
for tiles in $M $((M / 2)) $((M / 4)); do
    row '05 fa2' fa2 "$tiles" 0
done
cat <<TEXT

b: of a, where the line is still in the cache: softmax goes over a row of S three times; fa1 stores
   O, m and l where it has just loaded them.
c: 16 floats for each miss. A store that misses reads its line first; writing it back is not in c.

Tiles that fill M do not stay in this cache: beside each lies the place it was copied from, and S,
which M leaves out; and the cache drops what was used longest ago, needed or not. Tiles for M / 4
stay, and then the cache moves what the counter counts.
TEXT
