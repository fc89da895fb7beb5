#!/bin/sh
# sass_07.sh make|check|page ARCH - chapter 07's kernels on tensor cores in the machine's own instructions.
#
# make writes 07_backward/sass.txt: how many of some instructions stand in each kernel's code. It fails unless a kernel has
# what it claims: HMMA (mma), LDSM (ldmatrix), LDGSTS (cp.async), MUFU.EX2, atomic additions (RED or ATOMG) in mma_tile and
# only there, and no access to local memory. check holds the file against nvcc's word now, and skips where there is no nvcc
# or another one; page prints it for one compute capability, as Markdown.
mode=$1 arch=$2
. common/tools/nvcc_says.sh
chapter=07_backward
table=$chapter/sass.txt

if [ "$mode" = page ]; then
    echo '| kernel | d | `HMMA` | `LDSM` | `LDGSTS` | `MUFU.EX2` | `RED` | local memory |'
    echo '|---|---|---|---|---|---|---|---|'
    awk -v arch="$arch" '$3 == arch {
        printf "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $4, $5, $6, $7, $8, $9
    }' $table
    exit
fi

begin_table "$mode" $table
find_nvdisasm

# "kernel d HMMA LDSM LDGSTS EX2 RED local" of each bfloat16 kernel in nvdisasm's text.
count_all() {
    awk '
        function close_function() { if (name != "") print name, d, hmma + 0, ldsm + 0, ldgsts + 0, ex2 + 0, red + 0, local + 0 }
        /^\.text\./ {
            close_function()
            name = ""
            hmma = ldsm = ldgsts = ex2 = red = local = 0
            if (/nv_bfloat16/ && match($0, /[a-z][a-z]*[0-9]*_[a-z]+I13__nv_bfloat16/)) {
                name = substr($0, RSTART, RLENGTH - 16)
                d = $0
                sub(/.*tensor_shapeILi/, "", d)
                sub(/[^0-9].*/, "", d)
            }
        }
        /^ *\/\*[0-9a-f]+\*\/ / {
            hmma += / HMMA/; ldsm += / LDSM/; ldgsts += / LDGSTS/; ex2 += / MUFU\.EX2/
            red += / (RED|REDG|ATOMG|ATOM)[. ]/; local += / (LDL|STL)[. ]/
        }
        END { close_function() }' | sort -k1,1 -k2,2n
}

hold() {  # arch
    awk -v arch="$1" '
        function wrong(what) { print $1 ", d = " $2 ", sm_" arch ": " what >"/dev/stderr" }
        {
            if (!$3) wrong("no HMMA")
            if (!$4) wrong("no LDSM")
            if (!$5) wrong("no LDGSTS")
            if (!$6) wrong("no MUFU.EX2")
            if (($7 > 0) != ($1 == "mma_tile")) wrong($7 " atomic additions")
            if ($8) wrong("local memory")
            print $1, $2, arch, $3, $4, $5, $6, $7, $8
        }'
}

{
    echo "# nvcc $version, -O3, bfloat16; instructions in the code of each kernel, by make cuda-table"
    echo "# kernel d arch HMMA LDSM LDGSTS EX2 RED local"
    for kernel in mma_split mma complete16; do
        for of in 80 90; do
            "$NVCC" -std=c++17 -O3 -lineinfo -Icommon -arch=sm_$of -cubin -o "$work/cubin" $chapter/kernels/$kernel.cu || exit 2
            "$nvdisasm" -c "$work/cubin" >"$work/sass" || exit 2
            count_all <"$work/sass" | hold $of
        done
    done
} >"$work/table" 2>"$work/wrong" || { cat "$work/wrong" >&2; exit 2; }
if [ -s "$work/wrong" ]; then
    cat "$work/wrong" >&2
    exit 1
fi
[ "$(grep -vc '^#' "$work/table")" -eq 28 ] || { echo "$0: not all kernels were found" >&2; exit 2; }
end_table "$mode" $table "$work/table"
