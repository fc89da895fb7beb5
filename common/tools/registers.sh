#!/bin/sh
# registers.sh make|check|page ARCH - what chapter 07's kernels take of a GPU, by nvcc's word, which make cuda has left
# beside their objects.
#
# make writes 07_backward/results/resources.txt; check holds it against what nvcc says now, and skips where there is no nvcc or
# another one; page prints it for one compute capability, as Markdown.
mode=$1 arch=$2
table=07_backward/results/resources.txt
NVCC=${NVCC:-nvcc} made=${BUILD:-build}/cuda/obj/gpu/07_backward/kernels

if [ "$mode" = page ]; then
    echo '| kernel | d | registers | shared memory |'
    echo '|---|---|---|---|'
    awk -v arch="$arch" '$3 == arch { printf "| `%s` | %s | %s | %s |\n", $1, $2, $4, $5 }' $table
    exit
fi

version=$("$NVCC" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
if [ "$mode" = check ] && ! grep -q "nvcc $version," $table; then
    echo "skipped: $table is of $(sed -n 's/^# \(nvcc [0-9.]*\).*/\1/p' $table), and here is ${version:-none}"
    exit 0
fi
[ -n "$version" ] || { echo "$0: no nvcc here" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# What ptxas said of a file's kernels, as "kernel d arch registers shared-bytes". A spill was an error. Of a kernel for
# several types float32 or bfloat16 is looked at: float16 takes as much. On tensor cores shared memory is dynamic, and
# follows from the shape in the kernel's name: d, columns, bands, warps. mma_tile/16 is the one of 16 queries, for GPUs with
# less of it.
said() {  # kernel, arch
    awk -v arch="$2" '
        /Compiling entry function/ {
            wanted = $0 ~ "sm_" arch "[^0-9a-z]" && !/6__half/ && !/D_of_rowsI13__nv/
            name = $0
            sub(/.* function ._Z[0-9]*/, "", name)
            split("", n)
            if (match(name, /13kernel_traits/)) {
                shape = substr(name, RSTART + RLENGTH)
                gsub(/[^0-9]+/, " ", shape)
                split(shape, n, " ")
                sub(/I13__nv_bfloat1613kernel_traits/, "", name)
            }
            sub(/IfEv9attention/, "9attention", name)
            d = name ~ /ILi/ ? name : "any"
            sub(/^[A-Za-z_]*[0-9]*[A-Za-z_]*ILi/, "", d)
            sub(/E.*/, "", d)
            sub(/(ILi|9attention).*/, "", name)
        }
        /Used [0-9]* registers/ && wanted {
            registers = shared = $0
            sub(/.*Used /, "", registers)
            sub(/ .*/, "", registers)
            if (!sub(/ bytes smem.*/, "", shared)) shared = "0"
            sub(/.* /, "", shared)
            rows = 16 * n[3] * n[4]
            if (name ~ /^(split|complete16)_keys$/) shared = (2 * rows + 4 * n[2]) * n[1] * 2 + 4 * n[2] * 4
            if (name ~ /^(split|complete16)_queries$/) shared = (2 * rows + 4 * n[2]) * n[1] * 2 + 2 * rows * 4
            if (name == "mma_tile") {
                shared = ((2 * rows + 4 * n[2]) * n[1] + 2 * rows * n[2]) * 2 + 4 * n[2] * 4
                if (n[2] == 16) name = "mma_tile/16"
            }
            # Bc keys and Br queries: K and V, two stages of Q and dO, dS, two of L and D, and dQ with 8 floats behind each row
            stages = name == "bulk_tile" ? 2 : name == "ordered_tile" ? 1 : 0
            if (arch == "90a")
                shared = ((2 * rows + 4 * n[2]) * n[1] + rows * n[2]) * 2 + (4 + stages * (n[1] + 8)) * n[2] * 4
            print name, d, arch, registers, shared
        }' "$made"/*/"$1.log" | sort -k1,1 -k2,2n
}

{
    echo "# nvcc $version, -O3, nothing spilled; by make cuda-table"
    echo "# kernel d arch registers shared"
    for kernel in D standard recompute deterministic mma_split mma complete complete16; do
        for of in 80 90; do
            said $kernel $of || exit 2
        done
    done
    for kernel in wgmma bulk ordered; do
        said $kernel 90a || exit 2
    done
} >"$work/table" || exit 2

if [ "$mode" = make ]; then
    cp "$work/table" $table
elif ! cmp -s "$work/table" $table; then
    echo "stale: $table (make cuda-table renews it)"
    diff $table "$work/table" | head -n 20
    exit 1
fi
