#!/bin/sh
# growth.sh BUILD [N...] - how the memory of `complete` and its time grow with N, one head, d = 64, on one thread.
#
# Both are of the whole program, as the operating system says: its input and what it is checked against, too.
build=$1
shift
[ $# -gt 0 ] || set -- 8192 16384 32768 65536 131072 262144
last=32768  # of the backward pass

cell() { # program, N, option...
    program=$1 N=$2
    shift 2
    used=$("$build/peers/resident" "$build/$program" --quiet --n-q "$N" --d 64 --threads 1 "$@") ||
        { echo "growth.sh: $program with N = $N did not end well" >&2; exit 1; }
    echo "$used" | awk '{ printf "  %7.0f MB %8.1f s", $1 / 1e6, $2 }'
}

echo '              05, no mask            05, window 255,0       07, no mask            07, window 255,0'
for N; do
    line=$(printf '%-8d' "$N")$(cell 05_flash_tiled_cpu "$N")$(cell 05_flash_tiled_cpu "$N" --window 255,0) || exit 1
    [ "$N" -gt $last ] ||
        line=$line$(cell 07_backward "$N")$(cell 07_backward "$N" --window 255,0) || exit 1
    echo "$line"
done
echo "memory at most, and seconds of the processor; $(sed -n 's/^model name.*: //p' /proc/cpuinfo 2>/dev/null | sed 1q)"
