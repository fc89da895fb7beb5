#!/bin/sh
# sass_07.sh make|check|page ARCH - chapter 07's kernels on tensor cores in the machine's own instructions.
#
# make writes 07_backward/results/sass.txt: for each kernel the instructions of its loop over tiles, per warp and full tile. It
# fails unless they are as many as the products need: HMMA (mma), LDSM (ldmatrix), MUFU.EX2, and atomic additions (RED) in
# mma_tile and only there; unless copies are LDGSTS (cp.async); and if a kernel touches local memory. check holds the
# file against nvcc's word now, and skips where there is no nvcc or another one; page prints it for one compute
# capability, as Markdown. What is looked at is what make cuda has left beside its objects.
mode=$1 arch=$2
. common/tools/nvcc_says.sh
chapter=07_backward made=$BUILD/cuda/obj/gpu/07_backward/kernels
table=$chapter/results/sass.txt

if [ "$mode" = page ]; then
    echo '| kernel | d | `HMMA` | `LDSM` | `MUFU.EX2` | `RED` |'
    echo '|---|---|---|---|---|---|'
    awk -v arch="$arch" '$3 == arch { printf "| `%s` | %s | %s | %s | %s | %s |\n", $1, $2, $4, $5, $6, $7 }' $table
    exit
fi

begin_table "$mode" $table
find_nvdisasm

# "kernel d columns bands warps HMMA LDSM EX2 RED LDGSTS local" of each bfloat16 kernel in nvdisasm's text. The loop over
# tiles is the one with the most HMMA. A loop within it with HMMA is over the elements of two factors' rows, half of them a
# round; or, where ldmatrix transposes, it is over the block's keys, 64 a round, and what follows up to the additions is for
# a number of keys that 64 does not divide, which a full tile does not have.
count_all() {
    awk "$read_shape"'
        function close_function(    k, i, best, most, loop, n, rows, transposes, behind, added, w) {
            if (name == "") return
            for (k = 1; k <= loops; k++) {
                n = 0
                for (i = from[k]; i <= to[k]; i++) n += op[i] ~ /^HMMA/
                if (n > best) { best = n; loop = k }
            }
            for (i = 1; i <= count; i++) weight[i] = i >= from[loop] && i <= to[loop]
            rows = 16 * shape[3] * shape[4]
            most = 0
            behind = added = to[loop]
            for (k = 1; k <= loops; k++) {
                if (k == loop || from[k] <= from[loop] || to[k] >= to[loop]) continue
                n = transposes = 0
                for (i = from[k]; i <= to[k]; i++) { n += op[i] ~ /^HMMA/; transposes += op[i] ~ /^LDSM.*\.MT/ }
                for (i = from[k]; i <= to[k] && n > 0; i++) weight[i] = transposes ? rows / 64 : 2
                if (transposes && n > most) { most = n; behind = to[k] }
            }
            for (i = to[loop]; i > behind; i--) if (op[i] ~ /^RED/) added = i
            hmma = ldsm = ex2 = red = ldgsts = local = 0
            for (i = 1; i <= count; i++) {
                local += op[i] ~ /^(LDL|STL)/
                if (op[i] ~ /^LDGSTS/) ldgsts++
                w = i > behind && i < added && op[i] ~ /^(HMMA|LDSM)/ ? 0 : weight[i]
                hmma += w * (op[i] ~ /^HMMA/)
                ldsm += w * (op[i] ~ /^LDSM/)
                ex2 += w * (op[i] ~ /^MUFU\.EX2/)
                red += op[i] ~ /^(RED|REDG|ATOMG|ATOM)[. ]/
            }
            if (name == "mma_tile" && shape[2] == 16) name = "mma_tile/16"
            print name, shape[1], shape[2], shape[3], shape[4], hmma, ldsm, ex2, red, ldgsts, local
        }
        /^\.text\./ {
            close_function()
            name = ""
            count = loops = 0
            split("", at)
            if (/nv_bfloat16/ && match($0, /[a-z][a-z]*[0-9]*_[a-z]+I13__nv_bfloat16/)) {
                name = substr($0, RSTART, RLENGTH - 16)
                read_shape($0, shape)
            }
            next
        }
        /^\.L_/ { label = $1; sub(/:.*/, "", label); at[label] = count + 1; next }
        /^ *\/\*[0-9a-f]+\*\/ / {
            line = $0
            sub(/^ *\/\*[0-9a-f]+\*\/ */, "", line)
            sub(/^@!?U?P[0-9T]+ */, "", line)
            op[++count] = line
            if (line ~ /^BRA/ && match(line, /\.L_[A-Za-z0-9_]+/)) {
                label = substr(line, RSTART, RLENGTH)
                if (label in at) { from[++loops] = at[label]; to[loops] = count }
            }
        }
        END { close_function() }' | sort -k1,1 -k2,2n
}

# What a kernel should have. A tile has `columns` of scores for each of a warp's rows: S and dP are 16 x 8 x 16 in one
# HMMA each, and so are dV and dK, of d = 256 half a row, or dQ. In mma_tile a warp makes dQ of 16 elements from all keys;
# from 9.0 on it adds four of them at once, in the loop and, for the last tile, behind it. mma_tile/16 is the one of 16 queries, for GPUs with less shared memory.
hold() {  # arch
    awk -v arch="$1" '
        function expect(what, is, right) {
            if (is != right) print $1 ", d = " $2 ", sm_" arch ": " is " " what " a tile, expected " right >"/dev/stderr"
        }
        {
            d = $2; columns = $3; bands = $4; rows = 16 * bands * $5
            part = $1 ~ /_keys/ && d > 128 ? d / 2 : d
            products = $1 ~ /_queries/ ? 1 : 2
            hmma = bands * (2 * (columns / 8) * (d / 16) + products * (columns / 16) * (part / 8))
            ldsm = 2 * (d / 16) * (bands + columns / 16) + products * (columns / 16) * (part / 16)
            red = 0
            if ($1 ~ /^mma_tile/) {
                hmma += rows / 16 * (columns / 16) * 2
                ldsm += rows / 16 * (columns / 16 + 1)
                red = columns / 16 * 2 * (arch >= 90 ? 1 : 4)
            }
            expect("HMMA", $6, hmma)
            expect("LDSM", $7, ldsm)
            expect("MUFU.EX2", $8, bands * (columns / 8) * 4)
            expect("atomic additions in all", $9, 2 * red)
            if (!$10) expect("LDGSTS", $10, "some")
            expect("accesses to local memory", $11, 0)
            print $1, d, arch, $6, $7, $8, red
        }'
}

# All at the same time; where one fails, its rows are missing below.
for kernel in mma_split mma complete16; do
    for of in 80 90; do
        {
            "$nvdisasm" -c "$made"/*/"$kernel.nvcc/$kernel".*_"$of".cubin >"$work/sass.$kernel.$of" &&
                count_all <"$work/sass.$kernel.$of" | hold $of >"$work/rows.$kernel.$of"
        } 2>>"$work/wrong" &
    done
done
wait
{
    echo "# nvcc $version, -O3, bfloat16; instructions of the loop over tiles for each warp and tile, by make cuda-table"
    echo "# kernel d arch HMMA LDSM EX2 RED"
    for kernel in mma_split mma complete16; do
        cat "$work/rows.$kernel.80" "$work/rows.$kernel.90"
    done
} >"$work/table" 2>>"$work/wrong"
if [ -s "$work/wrong" ]; then
    cat "$work/wrong" >&2
    exit 1
fi
[ "$(grep -vc '^#' "$work/table")" -eq 34 ] || { echo "$0: not all kernels were found" >&2; exit 2; }
end_table "$mode" $table "$work/table"
