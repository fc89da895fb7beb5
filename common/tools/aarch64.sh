#!/bin/sh
# aarch64.sh BUILD - chapter 05 as a processor with NEON runs it: built by a cross compiler, run by qemu.
#
# Every kernel checks itself against the reference, at sizes that fill no vector and under every option.
# Where the cross compiler or qemu is missing: 77, and which package has them.
build=$1
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || {
        echo "SKIPPED: no $tool here (on Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"
        exit 77
    }
done
program=05_flash_tiled_cpu
# Linked statically, so that qemu needs no libraries; the linker has a remark on that.
make -s -j2 QUIET=1 CC=aarch64-linux-gnu-gcc LDFLAGS=-static BUILD="$build" "$build/$program" \
    2>"$build.log" || { cat "$build.log"; exit 1; }

count=0
run() {
    qemu-aarch64 "$build/$program" --quiet "$@" >"$build.log" 2>&1 || {
        echo "$program $* (under qemu-aarch64):"
        cat "$build.log"
        exit 1
    }
    count=$((count + 1))
}
run
for shape in '1 1' '7 3' '63 16' '65 40' '129 64' '200 59' '33 128' '40 256'; do
    # shellcheck disable=SC2086
    set -- $shape
    run --kernel all --n-q "$1" --d "$2" --heads 2
    run --kernel all --n-q "$1" --d "$2" --heads 2 --causal
done
run --kernel all --n-q 113 --n-k 203 --d 24 --causal=top-left --heads 4 --kv-heads 2
run --kernel all --n-q 100 --n-k 77 --d 33 --window 20,5 --dropout 0.2
run --kernel all --n-q 100 --d 32 --block-mask random:0.4:1 --mask-block 8,24 --causal --batch 2
run --kernel all --n-q 3 --n-k 2000 --d 64 --threads 3
run --kernel all --q common/data/q.npy --k common/data/k.npy --v common/data/v.npy \
    --key-mask common/data/key_mask.npy --dropout 0.1
echo "$program under qemu-aarch64: $count problems right"
