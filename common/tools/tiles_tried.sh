#!/bin/sh
# tiles_tried.sh make|check|page ARCH - the tiles that were tried for kernel budget, by nvcc's word.
#
# make writes 06_flash_tiled_cuda/results/budget.txt: registers, bytes that spill, and instructions of the loop over tiles, of
# tiles that are compiled into the program (tiles.h) and of those that were not taken. check and page are as in
# cuda_table.sh.
mode=$1 arch=$2
. common/tools/nvcc_says.sh
table=$chapter/results/budget.txt

# As in tiles.h: d, Br, Bc, bands of 16 queries a warp, blocks that a multiprocessor is to have registers for.
tried='(64, 64, 32, 1, 4) (64, 64, 64, 1, 4) (64, 64, 128, 1, 3) (64, 64, 128, 1, 2) (64, 128, 64, 1, 2)
       (64, 128, 128, 1, 2) (64, 128, 128, 1, 1) (64, 128, 32, 2, 2) (64, 128, 64, 2, 2) (64, 128, 128, 2, 1)
       (128, 64, 32, 1, 3) (128, 64, 64, 1, 3) (128, 64, 64, 1, 2) (128, 64, 128, 1, 2) (128, 128, 32, 1, 2)
       (128, 128, 64, 1, 2) (128, 128, 64, 1, 1) (128, 128, 128, 1, 1) (128, 128, 16, 2, 2) (128, 128, 32, 2, 2)
       (128, 128, 64, 2, 1)'

# Blocks: as many as registers and shared memory of this compute capability leave room for; its warps of those.
if [ "$mode" = page ]; then
    echo '| d | Br, Bc | queries a warp | blocks asked for | registers | spilled | shared memory | warps | instructions an `HMMA` | compiled |'
    echo '|---|---|---|---|---|---|---|---|---|---|'
    awk -v arch="$arch" '
        $1 == arch {
            warps = 4 * int(16384 / (int(($7 * 32 + 255) / 256) * 256))
            blocks = int(warps / $6)
            room = int((arch == 80 ? 164 : arch == 90 ? 228 : 100) * 1024 / ($9 + 1024))
            if (room < blocks) blocks = room
            printf "| %s | %s, %s | %s | %s | %s | %s | %s | %s | %.1f | %s |\n", $2, $3, $4, 16 * $5, $10, $7,
                $8 ? $8 : "none", $9, blocks * $6, $12 / $11, $13
        }' $table
    exit
fi

begin_table "$mode" $table
find_nvdisasm

list=$(echo "$tried" | tr -d '\n' | sed 's/ *(/ X(/g')
echo "#define BUDGET_TILES(X) $list" >"$work/tried.h"
sed -n '/define BUDGET_TILES/,/[^\\]$/p' $chapter/kernels/parts/tiles.h | grep -o 'X([0-9][^)]*)' >"$work/compiled"
sed 's/launch_tile<__half>(p, a);/;/' $chapter/kernels/2_tensor_cores/budget.cu >"$work/budget.cu"  # nobody looks at those
for of in 80 90; do
    "$NVCC" -std=c++17 -O3 -lineinfo -I. -include "$work/tried.h" -arch=sm_$of -Xptxas -v -cubin \
        -o "$work/cubin$of" "$work/budget.cu" >"$work/log$of" 2>&1 &
done
wait

tried_of() {  # arch
    "$nvdisasm" -c "$work/cubin$1" >"$work/sass$1" || exit 2
    count_instructions budget "$work/sass$1" >"$work/counts"
    awk -v arch="$1" "$read_shape"'
        FILENAME == ARGV[1] { compiled[$0]; next }
        FILENAME == ARGV[2] {
            all = 0
            for (k = 7; k <= 12; k++) all += $k
            hmma[$2, $3, $4, $5, $6] = $7
            instructions[$2, $3, $4, $5, $6] = all
            next
        }
        /Compiling entry function/ { wanted = /nv_bfloat16/; read_shape($0, n) }
        /spill stores/ { spilled = $(NF - 7) + $(NF - 3) }
        /Used [0-9]* registers/ && wanted {
            registers = $0
            sub(/.*Used /, "", registers)
            sub(/ .*/, "", registers)
            Br = 16 * n[3] * n[4]
            key = n[1] SUBSEP n[2] SUBSEP n[3] SUBSEP n[4] SUBSEP n[5]
            name = "X(" n[1] ", " Br ", " n[2] ", " n[3] ", " n[5] ")"
            print arch, n[1], Br, n[2], n[3], n[4], registers, spilled, (Br + 4 * n[2]) * n[1] * 2, n[5], hmma[key],
                instructions[key], (name in compiled) ? "yes" : "no"
        }' "$work/compiled" "$work/counts" "$work/log$1" | sort -k2,2n -k5,5n -k3,3n -k4,4n -k10,10nr
}

{
    echo "# nvcc $version, -O3, bfloat16; tiles that were tried for kernel budget, by make cuda-table"
    echo "# arch d Br Bc bands warps registers spilled shared asked HMMA instructions compiled"
    for of in 80 90; do
        tried_of $of
    done
} >"$work/table" || exit 2
if [ "$(grep -c ' yes$' "$work/table")" -ne "$((2 * $(wc -l <"$work/compiled")))" ]; then
    echo "$0: expected every tile of tiles.h among those tried" >&2
    exit 1
fi
end_table "$mode" $table "$work/table"
