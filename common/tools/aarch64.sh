#!/bin/sh
# aarch64.sh BUILD - chapter 05 and the CUDA emulator, cross-compiled for aarch64 and run by qemu.
#
# Every kernel checks itself against the reference at odd sizes and with all options; the emulator runs
# its own tests. Without the tools: exit status 77, and the package's name.
build=$1
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v $tool >/dev/null || {
        echo "SKIPPED: no $tool here (on Debian: g++-aarch64-linux-gnu qemu-user-static)"
        exit 77
    }
done
program=05_flash_tiled_cpu
emulated="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
make -s -j2 QUIET=1 CC=aarch64-linux-gnu-gcc LDFLAGS=-static-libgcc BUILD="$build" \
    "$build/$program" "$build/cuda-alone" "$build/cuda-bugs" || exit 1

BUILD=$build EMULATOR=$emulated $emulated "$build/cuda-alone" || exit 1

count=0
run() {
    $emulated "$build/$program" --quiet "$@" >"$build.log" 2>&1 || {
        echo "$program $* (under qemu-aarch64):"
        cat "$build.log"
        exit 1
    }
    count=$((count + 1))
}
run
for shape in '1 1' '7 3' '63 16' '65 40' '129 64' '131 59' '33 128' '40 256'; do
    # shellcheck disable=SC2086
    set -- $shape
    run --step all --n-q "$1" --d "$2" --heads 2
    run --step all --n-q "$1" --d "$2" --heads 2 --causal
done
run --step all --n-q 113 --n-k 203 --d 24 --causal=top-left --heads 4 --kv-heads 2
run --step all --n-q 100 --n-k 77 --d 33 --window 20,5 --dropout 0.2
run --step all --n-q 100 --d 32 --block-mask random:0.4:1 --mask-block 8,24 --causal --batch 2
run --step all --n-q 3 --n-k 2000 --d 64 --threads 3
run --step all --q common/data/q.npy --k common/data/k.npy --v common/data/v.npy \
    --key-mask common/data/key_mask.npy --dropout 0.1
echo "$program under qemu-aarch64: $count problems right"
