#!/bin/sh
# bench_cuda.sh PROGRAM CHAPTER - the ladders of CHAPTER on a GPU, and PyTorch's attention on the same problems.
#
# The ladders are that in float32, and where the GPU has tensor cores for it that in bfloat16. PyTorch has its turn
# before them and after them, and the better of its two times counts.
#
# Writes CHAPTER/results/GPU.csv with the machine, its driver, the toolkit and the commit at its head. PyTorch is
# asked if an interpreter has it: PYTHON, or python3. Without a GPU the program says how slow a CPU is, and
# nothing is written. RESULTS names another file.
program=$1 chapter=$2
[ $# -eq 2 ] || { echo "bench_cuda.sh: expected a program and its chapter" >&2; exit 2; }
"$program" --kernel device --device gpu --quiet >/dev/null 2>&1 || exec "$program" --bench

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>"$work/why"; then
    asked=yes
else
    echo "skipped: PyTorch ($python: $(tail -n 1 "$work/why" | grep . || echo 'its torch sees no GPU'))"
    asked=no
fi
: >"$work/peers"
[ $asked = no ] || "$python" common/peers/pytorch_gpu.py >"$work/peers" || exit
"$program" --bench --device gpu --csv "$work/ladder" || exit
"$program" --bench --device gpu --dtype bf16 --csv "$work/narrow"
case $? in
0) sed 1d "$work/narrow" >>"$work/ladder" ;;
77) ;;  # it has said why
*) exit 1 ;;
esac
[ $asked = no ] || "$python" common/peers/pytorch_gpu.py >>"$work/peers" || exit

gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
toolkit=$("${NVCC:-nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
commit=$(git rev-parse --short HEAD 2>/dev/null)$(git diff --quiet HEAD 2>/dev/null || echo ', changed')
name=$(printf '%s' "${gpu%%,*}" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '_')
results=${RESULTS:-$chapter/results/${name:-gpu}.csv}
{
    echo "# machine: ${gpu:-a GPU that nvidia-smi does not name}: name, driver"
    echo "# toolkit: nvcc ${toolkit:-not found}, $("$python" -c 'import torch; print("PyTorch", torch.__version__)' \
        2>/dev/null || echo 'no PyTorch')"
    echo "# command: make bench-${chapter%%_*}, $(date +%Y-%m-%d), at commit ${commit:-unknown}"
    echo "# ratio_previous: against the kernel before; of PyTorch's, how many times as fast as it complete is"
    awk -F, -v OFS=, '
        { at = $3 "," $5 "," $6 "," $7 "," $8 }
        FILENAME == ARGV[1] { print; if ($2 == "complete") complete[at] = $11; next }
        {
            at = $2 "," at
            if (!(at in best)) names[++n] = at
            if (!(at in best) || $11 + 0 < best[at]) { best[at] = $11 + 0; row[at] = $0 }
        }
        END {
            for (k = 1; k <= n; k++) {
                $0 = row[names[k]]
                at = $3 "," $5 "," $6 "," $7 "," $8
                if (complete[at] > 0) $14 = sprintf("%.3f", $11 / complete[at])
                print
            }
        }
    ' "$work/ladder" "$work/peers"
} >"$work/results" && mkdir -p "$(dirname "$results")" && cp "$work/results" "$results" || exit 2
awk -F, '/,pytorch/ {
    printf "%-18s %-4s N %5s, d %3s %-7s %10.3f ms; complete is %s times as fast\n", $2, $3, $6, $7,
        $8 == 1 ? "causal" : "", $11, $14
}' "$results"
echo "written to $results"
