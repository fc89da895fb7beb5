#!/bin/sh
# growth.sh BUILD [N...] - how the memory of `complete` and its time grow with N, one head, d = 64, on one thread.
#
# Both are of the whole program, as the operating system says: its input and what it is checked against, too. All runs go on
# at once, each on a core where there are enough.
build=$1
shift
[ $# -gt 0 ] || set -- 8192 16384 32768 65536 131072 262144
last=32768  # of the backward pass
room=$(mktemp -d) || exit 2
trap 'rm -rf "$room"' EXIT

start() { # N column program option...
    cell=$room/$1.$2 program=$3 N=$1
    shift 3
    "$build/peers/resident" "$build/$program" --quiet --n-q "$N" --d 64 --threads 1 "$@" >"$cell" || rm -f "$cell" &
}
for N; do
    start "$N" 1 05_flash_tiled_cpu
    start "$N" 2 05_flash_tiled_cpu --window 255,0
    [ "$N" -gt $last ] || start "$N" 3 07_backward
    [ "$N" -gt $last ] || start "$N" 4 07_backward --window 255,0
done
wait

echo 'N              05, no mask         05, window 255,0     07, no mask         07, window 255,0'
for N; do
    printf '%-8d' "$N"
    for column in 1 2 3 4; do
        [ "$column" -le 2 ] || [ "$N" -le $last ] || continue
        [ -s "$room/$N.$column" ] || { echo "growth.sh: column $column with N = $N did not end well" >&2; exit 1; }
        awk '{ printf " %7.0f MB %7.1f s ", $1 / 1e6, $2 }' "$room/$N.$column"
    done
    echo
done
echo 'the most memory of the whole program, and seconds of the processor'
sed -n 's/^model name.*: //p' /proc/cpuinfo 2>/dev/null | sed 1q
