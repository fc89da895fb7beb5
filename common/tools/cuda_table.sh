#!/bin/sh
# cuda_table.sh make|check|page ARCH - what chapter 06's kernels take of a GPU, by nvcc's word.
#
# make writes 06_flash_tiled_cuda/results/resources.txt; check holds it against what nvcc says now, and skips where there
# is no nvcc or another one; page prints it for one compute capability, as Markdown.
mode=$1 arch=$2
. common/tools/nvcc_says.sh
table=$chapter/results/resources.txt

if [ "$mode" = page ]; then
    echo '| kernel | d | Br, Bc | registers | shared memory | blocks | warps | limited by |'
    echo '|---|---|---|---|---|---|---|---|'
    awk -v arch="$arch" '$3 == arch {
        printf "| `%s` | %s | %s | %s | %s | %s | %s of %s | %s |\n", $1, $2, $4, $6, $7, $8, $9, $10, $11
    }' $table
    exit
fi

begin_table "$mode" $table

# What ptxas said, as "kernel d arch tile threads registers shared-bytes spilled-bytes".
said() {  # kernel, threads
    awk -v threads="$2" '
        /Compiling entry function/ {
            name = arch = $0
            sub(/.*sm_/, "", arch)
            sub(/[^0-9].*/, "", arch)
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
            print name, d, arch, "-", threads, registers, shared, spilled
        }' "$made"/*/"$1.log" | sort -k3,3n -k1,1 -k2,2n
}

# The same of a kernel on tensor cores, for bfloat16: float16 takes as much. Its shape is in its name, and from that
# follow its threads and its shared memory, which is dynamic.
said_tensor() {  # kernel, stages
    awk -v kernel="$1" -v stages="$2" "$read_shape"'
        /Compiling entry function/ {
            wanted = /nv_bfloat16/
            arch = $0
            sub(/.*sm_/, "", arch)
            sub(/[^0-9].*/, "", arch)
            read_shape($0, n)
        }
        /spill stores/ { spilled = $(NF - 7) + $(NF - 3) }
        /Used [0-9]* registers/ && wanted {
            registers = $0
            sub(/.*Used /, "", registers)
            sub(/ .*/, "", registers)
            Br = 16 * n[3] * n[4]
            declared = /bytes smem/ ? $0 : 0
            sub(/ bytes smem.*/, "", declared)
            sub(/.* /, "", declared)
            shared = (Br + 2 * stages * n[2]) * n[1] * 2 + declared
            print kernel "_tile", n[1], arch, Br "," n[2], 32 * n[4] + (kernel ~ /^(roles|overlap|pingpong|persistent)$/ ? 128 : 0), registers, shared, spilled
        }' "$made"/*/"$1.log" | sort -k3,3n -k1,1 -k2,2n -k4,4
}

# How many blocks fit on a multiprocessor: by registers, which a warp gets in units of 256 from a quarter of
# 65 536; by shared memory, of which a block takes 1 kB more from 8.0 on; by warps; by blocks. A block of which no
# multiprocessor has enough fits 0 times.
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
            own = $5 / 32
            fit = 1000
            least(int(W[$3] / own), "warps")
            least(int(4 * int(16384 / (int(($6 * 32 + 255) / 256) * 256)) / own), "registers")
            if ($7 > 0) least(int(S[$3] / (int(($7 + ($3 == 75 ? 0 : 1024) + 127) / 128) * 128)), "shared-memory")
            least(B[$3], "blocks")
            print $1, $2, $3, $4, $5, $6, $7, fit, fit * own, W[$3], limit, $8
        }'
}

{
    echo "# nvcc $version, -O3; one line a kernel and compute capability, by make cuda-table"
    echo "# kernel d arch Br,Bc threads registers shared blocks warps of limit spilled"
    for kernel in naive fa1 fa2 complete $tensor_kernels $hopper_kernels; do
        case $kernel in
        naive | fa1) said $kernel 256 ;;
        fa2 | complete) said $kernel 128 ;;
        mma | swizzle) said_tensor $kernel 1 ;;
        *) said_tensor $kernel 2 ;;
        esac
    done | awk '$3 ~ /^(75|80|86|89|90|120)$/' | occupancy
} >"$work/table" || exit 2

if awk '!/^#/ && $12 > 0 { bad = 1; print "spills: " $0 } END { exit !bad }' "$work/table"; then
    exit 1
fi
end_table "$mode" $table "$work/table"
