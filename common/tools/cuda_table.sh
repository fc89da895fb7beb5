#!/bin/sh
# cuda_table.sh make|check|page ARCH - what chapter 06's kernels take of a GPU, by nvcc's word.
#
# make writes 06_flash_tiled_cuda/resources.txt; check holds it against what nvcc says now, and skips where there
# is no nvcc or another one; page prints it for one compute capability, as Markdown.
mode=$1 arch=$2
table=06_flash_tiled_cuda/resources.txt
NVCC=${NVCC:-nvcc}

if [ "$mode" = page ]; then
    echo '| kernel | d | registers | shared memory | blocks | warps | limited by |'
    echo '|---|---|---|---|---|---|---|'
    awk -v arch="$arch" '$3 == arch {
        printf "| `%s` | %s | %s | %s | %s | %s of %s | %s |\n", $1, $2, $5, $6, $7, $8, $9, $10
    }' $table
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

# What ptxas says, as "kernel d arch threads registers shared-bytes spilled-bytes".
said() {  # kernel, threads
    for of in 75 80 86 89 90 120; do
        "$NVCC" -std=c++17 -O3 -lineinfo -Icommon -arch=sm_$of -Xptxas -v -cubin \
            -o "$work/cubin" "06_flash_tiled_cuda/kernels/$1.cu" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 2; }
        awk -v arch=$of -v threads="$2" '
            /Compiling entry function/ {
                name = $0
                sub(/.* function .[^a-z]*[0-9L]/, "", name)
                d = name ~ /ILi/ ? name : "any"
                sub(/^[a-z0-9_]*ILi/, "", d)
                sub(/E.*/, "", d)
                sub(/(ILi|9attention|E?v9att).*/, "", name)
                sub(/\047.*/, "", name)
            }
            /spill stores/ { spilled = $(NF - 7) + $(NF - 3) }
            /Used [0-9]* registers/ {
                registers = $0
                sub(/.*Used /, "", registers)
                sub(/ .*/, "", registers)
                shared = /bytes smem/ ? $0 : 0
                sub(/ bytes smem.*/, "", shared)
                sub(/.* /, "", shared)
                print name, d, arch, threads, registers, shared, spilled
            }' "$work/log" | sort -k1,1 -k2,2n
    done
}

# The same of a kernel on tensor cores, for bfloat16: float16 takes as much. Its shape is in its name, and from that
# follow its threads and its shared memory, which is dynamic.
said_tensor() {  # kernel, stages
    for of in 80 86 89 90 120; do
        "$NVCC" -std=c++17 -O3 -lineinfo -Icommon -arch=sm_$of -Xptxas -v -cubin \
            -o "$work/cubin" "06_flash_tiled_cuda/kernels/$1.cu" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 2; }
        awk -v arch=$of -v kernel="$1" -v stages="$2" '
            /Compiling entry function/ {
                wanted = /nv_bfloat16/
                shape = $0
                sub(/.*tensor_shapeILi/, "", shape)
                gsub(/[^0-9]+/, " ", shape)
                split(shape, n, " ")  # d, keys, bands, warps, and of async its stages
                of_stages = kernel == "async" ? n[5] : stages
                name = kernel == "async" && n[5] == 3 ? "async3" : kernel
            }
            /spill stores/ { spilled = $(NF - 7) + $(NF - 3) }
            /Used [0-9]* registers/ && wanted {
                registers = $0
                sub(/.*Used /, "", registers)
                sub(/ .*/, "", registers)
                shared = (16 * n[3] * n[4] + 2 * of_stages * n[2]) * n[1] * 2
                print name "_tile", n[1], arch, 32 * n[4], registers, shared, spilled
            }' "$work/log" | sort -k1,1 -k2,2n
    done
}

# How many blocks fit on a multiprocessor: by registers, which a warp gets in units of 256 from a quarter of
# 65 536; by shared memory, of which a block takes 1 kB more from 8.0 on; by warps; by blocks.
occupancy() {
    awk '
        BEGIN {
            split("75 80 86 89 90 120", archs)
            split("32 64 48 48 64 48", warps); split("16 32 16 24 32 24", blocks)
            split("64 164 100 100 228 100", shared)
            for (k in archs) { W[archs[k]] = warps[k]; B[archs[k]] = blocks[k]; S[archs[k]] = 1024 * shared[k] }
        }
        function least(n, why) { if (n < fit) { fit = n; limit = why } }
        {
            own = $4 / 32
            fit = 1000
            least(int(W[$3] / own), "warps")
            least(int(4 * int(16384 / (int(($5 * 32 + 255) / 256) * 256)) / own), "registers")
            if ($6 > 0) least(int(S[$3] / (int(($6 + ($3 == 75 ? 0 : 1024) + 127) / 128) * 128)), "shared-memory")
            least(B[$3], "blocks")
            print $1, $2, $3, $4, $5, $6, fit, fit * own, W[$3], limit, $7
        }'
}

{
    echo "# nvcc $version, -O3; one line a kernel and compute capability, by make cuda-table"
    echo "# kernel d arch threads registers shared blocks warps of limit spilled"
    for kernel in naive fa1 fa2 mma swizzle async exp2 skip rescale complete complete16; do
        case $kernel in
        naive | fa1) said $kernel 256 ;;
        fa2 | complete) said $kernel 128 ;;
        mma | swizzle) said_tensor $kernel 1 ;;
        *) said_tensor $kernel 2 ;;
        esac
    done | occupancy
} >"$work/table" || exit 2

if awk '!/^#/ && $11 > 0 { bad = 1; print "spills: " $0 } END { exit !bad }' "$work/table"; then
    exit 1
fi
if [ "$mode" = make ]; then
    cp "$work/table" $table
elif ! cmp -s "$work/table" $table; then
    echo "stale: $table (make cuda-table renews it)"
    diff $table "$work/table" | head -n 20
    exit 1
fi
