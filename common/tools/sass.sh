#!/bin/sh
# sass.sh make|check|page ARCH - what the kernels on tensor cores are in the machine's own instructions.
#
# make writes 06_flash_tiled_cuda/results/sass.txt: for each kernel the instructions of its loop over tiles, per warp and tile. It
# fails unless a kernel has what it claims: HMMA (mma), as many as its products need, and LDSM (ldmatrix), LDGSTS (cp.async)
# where its copies are asynchronous and only there, MUFU.EX2, and no access to local memory; one for Hopper HGMMA, UTMALDG
# and the numbers of registers that its warpgroups are to have. check holds the file against
# nvcc's word now, and skips where there is no nvcc or another one; page prints it for one compute capability, as Markdown.
mode=$1 arch=$2
. common/tools/nvcc_says.sh
table=$chapter/results/sass.txt

if [ "$mode$arch" = page90a ]; then
    echo '| kernel | d | Br, Bc | `HGMMA` | `UTMALDG` | `SYNCS` | `MUFU` | float32 | others | `USETMAXREG` |'
elif [ "$mode" = page ]; then
    echo '| kernel | d | Br, Bc | `HMMA` | `LDSM` | `LDGSTS` | `MUFU` | float32 | others |'
fi
if [ "$mode" = page ]; then
    echo "|---|---|---|---|---|---|---|---|---|$([ "$arch" = 90a ] && echo '---|')"
    awk -v arch="$arch" '$3 == arch {
        sub(/^-$/, "–", $12)
        printf "| `%s` | %s | %s, %s | %s | %s | %s | %s | %s | %s |", $1, $2, $4, $5, $6, $7, $8, $9, $10, $11
        print (arch == "90a" ? " " $12 " |" : "")
    }' $table
    exit
fi

begin_table "$mode" $table
find_nvdisasm

# What a kernel claims against what it is. 16 x 8 x 16 of each product for each of its bands is one HMMA.
hold() {  # arch
    awk -v arch="$1" '
        function wrong(what) { print $1 ", d = " $2 ", " $3 " keys, sm_" arch ": " what >"/dev/stderr" }
        {
            right = 2 * $4 * ($3 / 8) * ($2 / 16)
            if ($7 != right) wrong($7 " HMMA a tile, expected " right)
            if (!$8) wrong("no LDSM")
            if (($9 > 0) != ($1 !~ /^(mma|swizzle)$/)) wrong($9 " LDGSTS")
            if (!$10) wrong("no MUFU")
            if ($13) wrong("local memory")
            print $1, $2, arch, 16 * $4 * $5, $3, $7, $8, $9, $10, $11, $12
        }'
}

# For Hopper: one HGMMA makes 64 rows of 16 elements of k, in S with all keys of a tile, in O with all of d.
hold_hopper() {
    awk '
        function wrong(what) { print $1 ", d = " $2 ", " $3 " keys, sm_90a: " what >"/dev/stderr" }
        {
            right = $2 / 16 + $3 / 16
            if ($6 != right) wrong($6 " HGMMA a tile, expected " right)
            stays = $1 == "persistent"  # the loop in which its producer asks for K and V is in one that asks for Q
            right = (stays ? 3 : 2) * $2 / 64
            if ($7 != right) wrong($7 " UTMALDG a tile, expected " right)
            if (!$8) wrong("no mbarrier")
            if (!$9) wrong("no MUFU")
            right = $1 != "wgmma" ? "24,240" : "-"
            if ($12 != right) wrong("setmaxnreg " $12 ", expected " right)
            if ($13) wrong("local memory")
            if ((stays || $1 == "pingpong") && $14 < 2) wrong("turns are not taken and given: " $14 " barriers")
            print $1, $2, "90a", 16 * $4 * $5, $3, $6, $7, $8, $9, $10, $11, $12
        }'
}

{
    echo "# nvcc $version, -O3, bfloat16; instructions of the loop over tiles for each warp and tile, all branches taken"
    echo "# kernel d arch queries keys HMMA LDSM LDGSTS MUFU float32 others"
    for kernel in $tensor_kernels; do
        for of in 80 90; do
            "$nvdisasm" -c "$made"/*/"$kernel.nvcc/$kernel".*_"$of".cubin >"$work/sass" || exit 2
            count_instructions $kernel "$work/sass" | hold $of
        done
    done
    echo "# for Hopper: SYNCS are mbarriers"
    echo "# kernel d arch queries keys HGMMA UTMALDG SYNCS MUFU float32 others setmaxnreg"
    for kernel in $hopper_kernels; do
        "$nvdisasm" -c "$made"/*/"$kernel.nvcc/$kernel.cubin" >"$work/sass" || exit 2
        count_hopper $kernel "$work/sass" | hold_hopper
    done
} >"$work/table" 2>"$work/wrong" || { cat "$work/wrong" >&2; exit 2; }
if [ -s "$work/wrong" ]; then
    cat "$work/wrong" >&2
    exit 1
fi
end_table "$mode" $table "$work/table"
