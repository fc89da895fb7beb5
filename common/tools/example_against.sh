#!/bin/sh
# example_against.sh - check-against's report of an output that does not match options.txt.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp common/data/[qkv].npy "$work/"
cp common/data/key_mask.npy "$work/mask.npy"
build/04_flash_no_tiling --quiet --output "$work/o.npy" >/dev/null
echo '--causal' >"$work/options.txt"
sh common/tools/check_against.sh build "$work" 04 | sed "s|$work|mine|g"
