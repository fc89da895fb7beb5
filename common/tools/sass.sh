#!/bin/sh
# sass.sh make|check|page ARCH - what the kernels on tensor cores are in the machine's own instructions.
#
# make writes 06_flash_tiled_cuda/sass.txt: for each kernel the instructions of its loop over tiles, per warp and tile. It
# fails unless a kernel has what it claims: HMMA (mma) and LDSM (ldmatrix), LDGSTS (cp.async) where its copies are
# asynchronous and only there, MUFU.EX2, and no access to local memory. check holds the file against nvcc's word now, and
# skips where there is no nvcc or another one; page prints it for one compute capability, as Markdown.
mode=$1 arch=$2
table=06_flash_tiled_cuda/sass.txt
NVCC=${NVCC:-nvcc} BUILD=${BUILD:-build}

if [ "$mode" = page ]; then
    echo '| kernel | d | keys of a tile | `HMMA` | `LDSM` | `LDGSTS` | `MUFU` | float32 | others |'
    echo '|---|---|---|---|---|---|---|---|---|'
    awk -v arch="$arch" '$3 == arch {
        printf "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $4, $5, $6, $7, $8, $9, $10
    }' $table
    exit
fi

version=$("$NVCC" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
if [ "$mode" = check ] && ! grep -q "nvcc $version," $table; then
    echo "skipped: $table is of $(sed -n 's/^# \(nvcc [0-9.]*\).*/\1/p' $table), and here is ${version:-none}"
    exit 0
fi
[ -n "$version" ] || { echo "$0: no nvcc here" >&2; exit 2; }

# The disassembler is a package of PyPI's.
nvdisasm=$(command -v nvdisasm || find "$BUILD/sass" -name nvdisasm -type f 2>/dev/null | head -n 1)
if [ -z "$nvdisasm" ]; then
    mkdir -p "$BUILD" && python3 -m venv "$BUILD/sass" &&
        "$BUILD/sass/bin/pip" install -q --disable-pip-version-check nvidia-cuda-nvdisasm >&2
    nvdisasm=$(find "$BUILD/sass" -name nvdisasm -type f 2>/dev/null | head -n 1)
fi
[ -n "$nvdisasm" ] || { echo "skipped: nvdisasm is not here, and PyPI did not give it"; exit 0; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# The loop over tiles is the one with the most HMMA between a label and the branch back to it. A loop within it with HMMA
# is that over a row's elements, 32 of them a round. That the HMMA come out right says that both were found.
count() {  # kernel, arch
    awk -v kernel="$1" -v arch="$2" '
        function close_function(    k, i, best, loop, rounds, n, w, name) {
            if (!wanted) return
            best = 0
            for (k = 1; k <= loops; k++) {
                n = 0
                for (i = from[k]; i <= to[k]; i++) n += op[i] ~ /^HMMA/
                if (n > best) { best = n; loop = k }
            }
            for (i = 1; i <= count; i++) weight[i] = i >= from[loop] && i <= to[loop]
            for (k = 1; k <= loops; k++) {
                if (k == loop || from[k] <= from[loop] || to[k] >= to[loop]) continue
                n = 0
                for (i = from[k]; i <= to[k]; i++) n += op[i] ~ /^HMMA/
                for (i = from[k]; i <= to[k] && n > 0; i++) weight[i] = shape[1] / 32
            }
            hmma = ldsm = ldgsts = mufu = real = other = local = 0
            for (i = 1; i <= count; i++) {
                w = weight[i]
                local += op[i] ~ /^(LDL|STL)/
                if (op[i] ~ /^HMMA/) hmma += w
                else if (op[i] ~ /^LDSM/) ldsm += w
                else if (op[i] ~ /^LDGSTS/) ldgsts += w
                else if (op[i] ~ /^MUFU/) mufu += w
                else if (op[i] ~ /^(FFMA|FMUL|FADD|FMNMX|FSEL|FSETP)/) real += w
                else other += w
            }
            name = kernel == "async" && shape[5] == 3 ? "async3" : kernel
            print name, shape[1], arch, shape[2], hmma, ldsm, ldgsts, mufu, real, other
            # 16 x 8 x 16 of each product for each of its bands
            right = 2 * shape[3] * (shape[2] / 8) * (shape[1] / 16)
            if (hmma != right) { print name ": " hmma " HMMA a tile, expected " right >"/dev/stderr"; bad = 1 }
            if (!ldsm) { print name ": no LDSM" >"/dev/stderr"; bad = 1 }
            if (!mufu) { print name ": no MUFU" >"/dev/stderr"; bad = 1 }
            if ((ldgsts > 0) != (kernel !~ /^(mma|swizzle)$/)) { print name ": " ldgsts " LDGSTS" >"/dev/stderr"; bad = 1 }
            if (local && kernel != "complete16") { print name ": local memory" >"/dev/stderr"; bad = 1 }
        }
        /^\.text\./ {
            close_function()
            wanted = /nv_bfloat16/
            part = $0
            sub(/.*tensor_shapeILi/, "", part)
            gsub(/[^0-9]+/, " ", part)
            split(part, shape, " ")  # d, keys, bands, warps, and of async its stages
            count = loops = 0
            split("", at)
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
        END { close_function(); exit bad }' "$work/sass" | sort -k1,1 -k2,2n
}

{
    echo "# nvcc $version, -O3, bfloat16; instructions of the loop over tiles for each warp and tile, all branches taken"
    echo "# kernel d arch keys HMMA LDSM LDGSTS MUFU float32 others"
    for kernel in mma swizzle async exp2 skip rescale complete16; do
        for of in 80 90; do
            "$NVCC" -std=c++17 -O3 -lineinfo -Icommon -arch=sm_$of -cubin -o "$work/cubin" \
                "06_flash_tiled_cuda/kernels/$kernel.cu" || exit 2
            "$nvdisasm" -c "$work/cubin" >"$work/sass" || exit 2
            count $kernel $of
        done
    done
} >"$work/table" 2>"$work/wrong" || { cat "$work/wrong" >&2; exit 2; }
if [ -s "$work/wrong" ]; then
    cat "$work/wrong" >&2
    exit 1
fi
if [ "$mode" = make ]; then
    cp "$work/table" $table
elif ! cmp -s "$work/table" $table; then
    echo "stale: $table (make cuda-table renews it)"
    diff $table "$work/table" | head -n 20
    exit 1
fi
