# nvcc_says.sh - what cuda_table.sh, sass.sh and tiles_tried.sh have in common: they read it with `.`
#
# Each keeps a table in 06_flash_tiled_cuda, and is called with a mode: make, check or page. What they look at is
# what make cuda has left beside its objects.
NVCC=${NVCC:-nvcc} BUILD=${BUILD:-build}
chapter=06_flash_tiled_cuda
made=$BUILD/cuda/obj/gpu/$chapter/kernels

# The kernels on tensor cores, by the names of their files.
tensor_kernels="mma swizzle async exp2 skip rescale budget complete16"

# Those for Hopper, which are made for it alone.
hopper_kernels="wgmma roles overlap pingpong persistent"

# An awk function: what a kernel's mangled name says of its shape, in shape[1 …]: d, keys, bands, warps, blocks.
read_shape='
    function read_shape(name, shape) {
        sub(/.*kernel_traitsILi/, "", name)
        sub(/attention.*/, "", name)
        gsub(/[^0-9]+/, " ", name)
        split(name, shape, " ")
    }'

# Sets version and work, a folder. Ends the script where a check cannot be made: no nvcc, or not the table's.
begin_table() {  # mode, table
    version=$("$NVCC" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    if [ "$1" = check ] && ! grep -q "nvcc $version," "$2"; then
        echo "skipped: $2 is of $(sed -n 's/^# \(nvcc [0-9.]*\).*/\1/p' "$2"), and here is ${version:-none}"
        exit 0
    fi
    [ -n "$version" ] || { echo "$0: no nvcc here" >&2; exit 2; }
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
}

# Keeps the new table, or holds the committed one against it.
end_table() {  # mode, table, new
    if [ "$1" = make ]; then
        cp "$3" "$2"
    elif ! cmp -s "$3" "$2"; then
        echo "stale: $2 (make cuda-table renews it)"
        diff "$2" "$3" | head -n 20
        exit 1
    fi
}

# Sets nvdisasm, which is a package of PyPI's; ends the script where that does not give it.
find_nvdisasm() {
    nvdisasm=$(command -v nvdisasm || find "$BUILD/sass" -name nvdisasm -type f 2>/dev/null | head -n 1)
    if [ -z "$nvdisasm" ]; then
        mkdir -p "$BUILD" && python3 -m venv "$BUILD/sass" &&
            "$BUILD/sass/bin/pip" install -q --disable-pip-version-check nvidia-cuda-nvdisasm >&2
        nvdisasm=$(find "$BUILD/sass" -name nvdisasm -type f 2>/dev/null | head -n 1)
    fi
    [ -n "$nvdisasm" ] || { echo "skipped: nvdisasm is not here, and PyPI did not give it"; exit 0; }
}

# The same of a kernel for Hopper: "kernel d keys bands warps HGMMA UTMALDG SYNCS MUFU float32 others setmaxnreg local barriers". The loop is
# that with the most HGMMA; UTMALDG is asked for by one thread of the block, which may have a loop of its own. setmaxnreg
# are the fewest and the most registers that a warpgroup asks for, or -. Waits are behind the code, and jump back into it:
# where there is an EXIT between, that is no loop.
count_hopper() {  # kernel, file
    awk -v kernel="$1" "$read_shape"'
        function from_hex(text,    k, n) {
            for (k = 3; k <= length(text); k++) n = 16 * n + index("0123456789abcdef", substr(text, k, 1)) - 1
            return n
        }
        function most_in_a_loop(what,    k, i, n, most) {
            most = 0
            for (k = 1; k <= loops; k++) {
                n = 0
                for (i = from[k]; i <= to[k]; i++) n += op[i] ~ what
                if (n > most) { most = n; loop = k }
            }
            return most
        }
        function close_function(    i, n) {
            if (!wanted) return
            load = most_in_a_loop("^UTMALDG")
            most_in_a_loop("^HGMMA")
            hgmma = syncs = mufu = real = other = local = barriers = 0
            fewest = most = 0
            for (i = 1; i <= count; i++) {
                local += op[i] ~ /^(LDL|STL)/
                if (op[i] ~ /^USETMAXREG/ && match(op[i], /0x[0-9a-f]+/)) {
                    n = from_hex(substr(op[i], RSTART, RLENGTH))
                    if (!fewest || n < fewest) fewest = n
                    if (n > most) most = n
                }
                if (i < from[loop] || i > to[loop]) continue
                barriers += op[i] ~ /^BAR\.(SYNC|ARV)/
                if (op[i] ~ /^HGMMA/) hgmma++
                else if (op[i] ~ /^UTMALDG/) continue
                else if (op[i] ~ /^SYNCS/) syncs++
                else if (op[i] ~ /^MUFU/) mufu++
                else if (op[i] ~ /^(FFMA|FMUL|FADD|FMNMX|FSEL|FSETP)/) real++
                else other++
            }
            print kernel, shape[1], shape[2], shape[3], shape[4], hgmma, load, syncs, mufu, real, other, (most ? fewest "," most : "-"), local, barriers
        }
        /^\.text\./ {
            close_function()
            wanted = /nv_bfloat16/
            read_shape($0, shape)
            count = loops = left = 0
            split("", at)
            next
        }
        /^\.L_/ { label = $1; sub(/:.*/, "", label); at[label] = count + 1; next }
        /^ *\/\*[0-9a-f]+\*\/ / {
            line = $0
            sub(/^ *\/\*[0-9a-f]+\*\/ */, "", line)
            sub(/^@!?U?P[0-9T]+ */, "", line)
            op[++count] = line
            if (line ~ /^EXIT/) left = count
            if (line ~ /^BRA/ && match(line, /\.L_[A-Za-z0-9_]+/)) {
                label = substr(line, RSTART, RLENGTH)
                if (label in at && at[label] > left) { from[++loops] = at[label]; to[loops] = count }
            }
        }
        END { close_function() }' "$2" | sort -k1,1 -k2,2n
}

# "kernel d keys bands warps blocks HMMA LDSM LDGSTS MUFU float32 others local", from nvdisasm's text of a kernel's
# bfloat16 variants: of the loop over tiles, for each warp and tile. The loop is the one with the most HMMA between
# a label and the branch back to it. A loop within it with HMMA is that over a row's elements, half of them a round.
count_instructions() {  # kernel, file
    awk -v kernel="$1" "$read_shape"'
        function close_function(    k, i, best, loop, n, w) {
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
                for (i = from[k]; i <= to[k] && n > 0; i++) weight[i] = 2
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
            print kernel, shape[1], shape[2], shape[3], shape[4], shape[5], hmma, ldsm, ldgsts, mufu, real, other, local
        }
        /^\.text\./ {
            close_function()
            wanted = /nv_bfloat16/
            read_shape($0, shape)
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
        END { close_function() }' "$2" | sort -k1,1 -k2,2n -k4,4n -k5,5n -k3,3n
}
