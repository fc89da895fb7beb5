#!/bin/sh
# gpu_best.sh rows|page|summary FILE... - of each problem that a GPU was measured on: the chapter's fastest kernel, PyTorch's
# fastest backend, and how many times as fast the kernel is. FILE: NN_chapter/results/GPU.csv, as bench_cuda.sh writes it.
#
#     rows      comma-separated values: GPU, chapter, type, d, N, causal, kernel, GFLOP/s, backend, GFLOP/s, times as fast
#     page      the table of common/results/README.md, and where its figures are from
#     summary   a line for each pass and type: the least and the most over its problems
#
# What PyTorch has not measured has no backend, GFLOP/s and times; what it alone has is left out.
mode=$1
case $mode in rows | page | summary) ;; *)
    echo "gpu_best.sh: expected rows, page or summary, and files; found '$mode'" >&2
    exit 2
    ;;
esac
shift
[ $# -gt 0 ] || { echo "gpu_best.sh: expected files of results" >&2; exit 2; }
for file; do
    [ -r "$file" ] || { echo "gpu_best.sh: $file: expected a file of results" >&2; exit 2; }
done
rows() {
    awk -F, -v OFS=, '
        /^# machine: / { gpu = substr($1, 12) }
        /^#/ || $1 == "chapter" || !($12 > 0) { next }
        {
            at = gpu OFS $1 OFS $3 OFS $7 OFS $6 OFS $8
            if (!(at in known)) { known[at]; problem[++n] = at }
            if ($2 ~ /^pytorch /) {
                if ($12 + 0 > peer[at]) { peer[at] = $12 + 0; backend[at] = substr($2, 9) }
            } else if ($12 + 0 > best[at]) { best[at] = $12 + 0; kernel[at] = $2 }
        }
        END {
            for (k = 1; k <= n; k++) {
                at = problem[k]
                if (best[at]) print at, kernel[at], best[at], backend[at], peer[at], peer[at] ? best[at] / peer[at] : ""
            }
        }' "$@"
}
# In TFLOP/s, with three digits.
say='
    function tera(gflops) { return sprintf(gflops < 99950 ? "%.1f" : "%.0f", gflops / 1000) }
    function pass(chapter) { return chapter == "06" ? "forward" : "backward" }
    function type(name) { return name == "f32" ? "float32" : name }'

case $mode in
rows) rows "$@" ;;
page)
    echo '| GPU | pass | type | d | N | mask | fastest kernel | TFLOP/s | PyTorch: fastest backend | TFLOP/s | times as fast |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    rows "$@" | awk -F, "$say"'{
        printf "| %s | %s | %s | %d | %d | %s | `%s` | %s | ", $1, pass($2), type($3), $4, $5, ($6 == 1 ? "causal" : "none"),
            $7, tera($8)
        if ($9 == "") print "not measured yet | | |"
        else printf "%s | %s | %.2f |\n", $9, tera($10), $11
    }'
    for file; do  # the page lies two folders deep
        from=$(sh common/tools/gpu_source.sh "$file" "../../$file" 'bf16|PyTorch|N = [0-9]+.*')
        [ -z "$from" ] || printf '\n%s\n' "$from"
    done
    ;;
summary)
    echo '| GPU | pass | type | fastest kernel, TFLOP/s | times as fast as PyTorch |'
    echo '|---|---|---|---|---|'
    rows "$@" | awk -F, "$say"'
        {
            at = "| " $1 " | " pass($2) " | " type($3) " | "
            if (!(at in low)) { line[++n] = at; low[at] = high[at] = $8 + 0 }
            if ($8 + 0 < low[at]) low[at] = $8 + 0
            if ($8 + 0 > high[at]) high[at] = $8 + 0
            if ($11 == "") next
            if (!(at in least)) least[at] = most[at] = $11 + 0
            if ($11 + 0 < least[at]) least[at] = $11 + 0
            if ($11 + 0 > most[at]) most[at] = $11 + 0
        }
        END {
            for (k = 1; k <= n; k++) {
                at = line[k]
                printf "%s%s to %s | ", at, tera(low[at]), tera(high[at])
                if (at in least) printf "%.2f to %.2f |\n", least[at], most[at]
                else print "not measured yet |"
            }
        }'
    ;;
esac
