#!/bin/sh
# bench_cuda.sh PROGRAM CHAPTER - the ladder of CHAPTER on a GPU, and PyTorch's attention on the same problems.
#
# Writes CHAPTER/results/GPU.csv with the machine, its driver, the toolkit and the commit at its head. PyTorch is
# asked if an interpreter has it: PYTHON, or python3. Without a GPU the program says how slow a CPU is, and
# nothing is written. RESULTS names another file.
program=$1 chapter=$2
[ $# -eq 2 ] || { echo "bench_cuda.sh: expected a program and its chapter" >&2; exit 2; }
"$program" --kernel device --device gpu --quiet >/dev/null 2>&1 || exec "$program" --bench

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
"$program" --bench --device gpu --csv "$work/ladder" || exit

python=${PYTHON:-python3}
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>"$work/why"; then
    "$python" common/peers/pytorch_gpu.py >"$work/peers" || exit
else
    echo "skipped: PyTorch ($python: $(tail -n 1 "$work/why" | grep . || echo 'its torch sees no GPU'))"
    : >"$work/peers"
fi

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
        FILENAME == ARGV[1] { print; if ($2 == "complete") complete[$7 "," $8] = $11; next }
        { at = $7 "," $8; if (complete[at] > 0) $14 = sprintf("%.3f", $11 / complete[at]); print }
    ' "$work/ladder" "$work/peers"
} >"$work/results" && mkdir -p "$(dirname "$results")" && cp "$work/results" "$results" || exit 2
awk -F, '/,pytorch/ { printf "%-24s d %3s %-7s %10.3f ms; complete is %s times as fast\n", $2, $7, $8 == 1 ? "causal" : "", $11, $14 }' \
    "$results"
echo "written to $results"
