#!/bin/sh
# sass_hopper_07.sh make|check|page - chapter 07's kernels for Hopper in the machine's own instructions.
#
# make writes 07_backward/results/sass_hopper.txt: how many of some instructions stand in each kernel's code. It fails unless a
# kernel has what it claims: as many HGMMA (wgmma) as its five products need, UTMALDG (tma_load), SYNCS (mbarriers),
# MUFU.EX2, UBLKRED (bulk_add) where dQ is added so, no other atomic additions than it claims, and no access to local
# memory. check holds the file against nvcc's word now, and skips where there is no nvcc or another one; page prints it
# as Markdown. What is looked at is what make cuda has left beside its objects.
mode=$1
. common/tools/nvcc_says.sh
chapter=07_backward made=$BUILD/cuda/obj/gpu/07_backward/kernels
table=$chapter/results/sass_hopper.txt

if [ "$mode" = page ]; then
    echo '| kernel | d | `HGMMA` | `UTMALDG` | `SYNCS` | `MUFU.EX2` | `RED` | `UBLKRED` |'
    echo '|---|---|---|---|---|---|---|---|'
    awk '!/^#/ { printf "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7, $8 }' $table
    exit
fi

begin_table "$mode" $table
find_nvdisasm

# "kernel d queries HGMMA UTMALDG SYNCS EX2 RED UBLKRED local" of each bfloat16 kernel in nvdisasm's text.
count_all() {
    awk "$read_shape"'
        function close_function() {
            if (name != "") print name, shape[1], shape[2], hgmma, load, syncs, ex2, red, bulk, local
        }
        /^\.text\./ {
            close_function()
            name = ""
            hgmma = load = syncs = ex2 = red = bulk = local = 0
            if (/nv_bfloat16/ && match($0, /[a-z]+_tileI13__nv_bfloat16/)) {
                name = substr($0, RSTART, RLENGTH - 16)
                read_shape($0, shape)
            }
        }
        /^ *\/\*[0-9a-f]+\*\/ / {
            hgmma += / HGMMA/; load += / UTMALDG/; syncs += / SYNCS/; ex2 += / MUFU\.EX2/
            red += / (RED|REDG|ATOMG|ATOM)[. ]/; bulk += / UBLKRED/; local += / (LDL|STL)[. ]/
        }
        END { close_function() }' | sort -k1,1 -k2,2n
}

# One HGMMA is 64 rows by 16 that are summed over: d in S and dP, the queries in dV and dK, and 128 keys in dQ. The three
# atomic additions of ordered_tile are of whole numbers: the block's, and two of the turn, in a round and after the last.
hold() {
    awk '
        function expect(what, is, right) {
            if (is != right) print $1 ", d = " $2 ", sm_90a: " is " " what ", expected " right >"/dev/stderr"
        }
        {
            expect("HGMMA", $4, 2 * $2 / 16 + 2 * $3 / 16 + 128 / 16)
            if (!$5) expect("UTMALDG", $5, "some")
            if (!$6) expect("SYNCS", $6, "some")
            expect("MUFU.EX2", $7, $3 / 2)
            expect("atomic additions", $8, $1 == "wgmma_tile" ? 32 : $1 == "ordered_tile" ? 3 : 0)
            if (($9 > 0) != ($1 != "wgmma_tile")) expect("UBLKRED", $9, $9 ? "none" : "some")
            expect("accesses to local memory", $10, 0)
            print $1, $2, $4, $5, $6, $7, $8, $9
        }'
}

{
    echo "# nvcc $version, -O3, bfloat16, sm_90a; instructions in the code of each kernel, by make cuda-table"
    echo "# kernel d HGMMA UTMALDG SYNCS EX2 RED UBLKRED"
    for kernel in wgmma bulk ordered; do
        "$nvdisasm" -c "$made"/*/"$kernel.nvcc/$kernel.cubin" >"$work/sass" || exit 2
        count_all <"$work/sass" | hold
    done
} >"$work/table" 2>"$work/wrong" || { cat "$work/wrong" >&2; exit 2; }
if [ -s "$work/wrong" ]; then
    cat "$work/wrong" >&2
    exit 1
fi
[ "$(grep -vc '^#' "$work/table")" -eq 6 ] || { echo "$0: not all kernels were found" >&2; exit 2; }
end_table "$mode" $table "$work/table"
