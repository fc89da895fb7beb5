#!/bin/sh
# plots_gpu.sh RESULTS KERNEL... - the numbers of the picture of a ladder on a GPU, from what bench_cuda.sh has kept of these
# kernels; nothing if there is no such file.
#
# The kernels for bf16, without a mask: with d = 128 and the largest N up to 8192 that was measured, and so with d = 64. Prints
# "# GPU", "#N d N", "# d backend TFLOP/s" for PyTorch's fastest backends, and a line a kernel: place, name, TFLOP/s for
# d = 128, for d = 64 (NaN: not measured), and 1 for mma, 2 for Hopper's units, 3 for the kernel with every option.
results=$1
[ $# -gt 1 ] || { echo "plots_gpu.sh: expected a file of results, and names of kernels" >&2; exit 2; }
[ -f "$results" ] || exit 0
shift
awk -F, -v kernels=" $* " '
    /^# machine: / { print "# " substr($1, 12); next }
    $3 != "bf16" || $8 != 0 || $6 > 8192 || $7 != 128 && $7 != 64 { next }
    { speed[$2, $7, $6] = $12 / 1000 }
    !index(kernels, " " $2 " ") { next }
    !($2 in place) { place[$2] = ++n; name[n] = $2 }
    $6 + 0 > N[$7] { N[$7] = $6 + 0 }
    function of(who, d) { return (who, d, N[d]) in speed ? speed[who, d, N[d]] : "NaN" }
    END {
        split("128 64", ds, " ")
        split("flash cudnn", backends, " ")
        for (i = 1; i <= 2; i++) {
            if (!N[ds[i]]) continue
            print "#N " ds[i] " " N[ds[i]]
            for (k = 1; k <= 2; k++)
                if (of("pytorch " backends[k], ds[i]) != "NaN") print "# " ds[i] " " backends[k] " " of("pytorch " backends[k], ds[i])
        }
        units = 1
        for (k = 1; k <= n; k++) {
            if (name[k] ~ /wgmma$/) units = 2
            print k, name[k], of(name[k], 128), of(name[k], 64), name[k] ~ /complete$/ ? 3 : units
        }
    }' "$results"
