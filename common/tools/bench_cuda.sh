#!/bin/sh
# bench_cuda.sh PROGRAM CHAPTER - the ladders of CHAPTER on a GPU, and PyTorch's attention on the same problems.
#
# The ladders are that in float32, and where the GPU has tensor cores for it that in bfloat16. PyTorch has its turn
# before them and after them, and the better of its two times counts. LEAVE_OUT: kernels, with commas between them,
# that the ladders do without. What fails is told, and the rest goes on; then the end is 1.
#
# Writes CHAPTER/results/GPU.csv with the machine, its driver, the toolkit and the commit at its head: COMMIT, or git's
# word. PyTorch is asked if an interpreter has it: PYTHON, or python3. Without a GPU chapter 06 says how slow a CPU is, and
# nothing is written. RESULTS names another file; SECONDS_AT_MOST is how long one ladder, or PyTorch, may take. What is measured is
# compared with the file as it was: with that of another copy of the course, where BEFORE names its folder.
#
# DRY=1 tries all this without a GPU: a small problem instead of the ladder, whose figures are those of the H200.
program=$1 chapter=$2
[ $# -eq 2 ] || { echo "bench_cuda.sh: expected a program and its chapter" >&2; exit 2; }
[ -n "$DRY" ] || "$program" --device gpu --n-q 9 --d 64 --quiet >/dev/null 2>&1
case $?,$chapter in
77,06_*) exec "$program" --bench ;;
77,*) exec "$program" --device gpu --n-q 9 --quiet ;;  # it says why
esac

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3} status=0
limit=$(command -v timeout || command -v gtimeout) && limit="$limit --foreground -k 10 ${SECONDS_AT_MOST:-900}"
direction=forward
case $chapter in 07_*) direction=backward ;; esac
failed() {  # what, status
    case $2 in 124 | 137) set -- "$1" "it took longer than ${SECONDS_AT_MOST:-900} s" ;; *) set -- "$1" "status $2" ;; esac
    echo "bench_cuda.sh: $1: $2; what it had measured is kept" >&2
    status=1
}
if "$python" -c "import sys, torch; sys.exit(not ('$DRY' or torch.cuda.is_available()))" 2>"$work/why"; then
    asked=yes
else
    echo "skipped: PyTorch ($python: $(tail -n 1 "$work/why" | grep . || echo 'its torch sees no GPU'))"
    asked=no
fi
ask_pytorch() {  # errors, or nothing
    [ $asked = yes ] || return
    # shellcheck disable=SC2086  # words
    $limit "$python" common/peers/pytorch_gpu.py $direction $1 ${DRY:+dry} >>"$work/peers" || failed PyTorch $?
}
dry_ladder() {  # type
    kernels=$(sh common/tools/kernels_of.sh "$program" "$1" | tail -n 1)
    "$program" --device cpu --quiet --kernel "$kernels" --n-q 33 --d 64 --dtype "$1" || failed "the ladder in $1" $?
    grep -v '^#' "$chapter/results/nvidia_h200.csv" | grep "^chapter\|^..,[^ ]*,$1," >"$work/$1"
    sed 1d "$work/$1" >>"$work/ladder"
}
ladder() {  # type
    [ -z "$DRY" ] || { dry_ladder "$1"; return; }
    # shellcheck disable=SC2086
    $limit "$program" --bench --device gpu --dtype "$1" ${LEAVE_OUT:+--exclude "$LEAVE_OUT"} --csv "$work/$1"
    case $? in
    0) ;;
    77) return ;;  # it has said why
    *) failed "the ladder in $1" $? ;;
    esac
    [ ! -f "$work/$1" ] || sed 1d "$work/$1" >>"$work/ladder"
}
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
toolkit=$("${NVCC:-nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
# The checksums of machine code that this nvcc makes, by make cuda-table.
codes=$(awk -v toolkit="$toolkit," 'NR == 1 && $3 != toolkit { exit }
    $3 == "90a" { printf "%s%s %s %s", n++ ? ", " : "", $1, $2, $NF }' "$chapter/results/sass.txt" 2>/dev/null)
pytorch=$("$python" -c 'import torch; print("PyTorch", torch.__version__)' 2>/dev/null || echo 'no PyTorch')
if [ -z "$COMMIT" ] && COMMIT=$(git rev-parse --short HEAD 2>/dev/null); then
    git diff --quiet HEAD 2>/dev/null || COMMIT="$COMMIT, changed"
fi
name=$(printf '%s' "${gpu%%,*}" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '_')
results=${RESULTS:-$chapter/results/${name:-gpu}.csv}

# What there is so far: after each step, for who has a GPU for a while may lose it in the middle.
write_results() {
    [ -s "$work/ladder" ] || return 0
    {
        echo "# machine: ${gpu:-a GPU that nvidia-smi does not name}: name, driver"
        echo "# toolkit: nvcc ${toolkit:-not found}, $pytorch"
        echo "# command: make bench-${chapter%%_*}, $(date +%Y-%m-%d), at commit ${COMMIT:-unknown}"
        echo "# just after the ladders: ${clocks:-not known}: clock, its most, temperature, power, reasons for a lower clock"
        [ -z "$LEAVE_OUT" ] || echo "# left out: $LEAVE_OUT"
        [ -z "$codes" ] || echo "# code: $codes"
        echo "# ratio_previous: against the kernel before; of PyTorch's, how many times as fast as it complete is"
        cat "$work"/f32 "$work"/bf16 2>/dev/null | head -n 1
        awk -F, -v OFS=, '
            { at = $3 "," $5 "," $6 "," $7 "," $8 }
            FILENAME == ARGV[1] { print; if ($2 ~ /complete$/) complete[at] = $11; next }
            {
                at = $2 "," at
                if ($15 != "") error[at] = $15  # only one of its two turns finds it out
                if (!(at in best)) names[++n] = at
                if (!(at in best) || $11 + 0 < best[at]) { best[at] = $11 + 0; row[at] = $0 }
            }
            END {
                for (k = 1; k <= n; k++) {
                    $0 = row[names[k]]
                    $15 = error[names[k]]
                    at = $3 "," $5 "," $6 "," $7 "," $8
                    if (complete[at] > 0) $14 = sprintf("%.3f", $11 / complete[at])
                    print
                }
            }
        ' "$work/ladder" "$work/peers"
    } >"$work/results" && mkdir -p "$(dirname "$results")" && cp "$work/results" "$results" || exit 2
}

: >"$work/peers"
: >"$work/ladder"
cp "${BEFORE:+$BEFORE/}$results" "$work/before" 2>/dev/null
ask_pytorch errors
ladder f32
write_results
ladder bf16
clocks=$(nvidia-smi --query-gpu=clocks.sm,clocks.max.sm,temperature.gpu,power.draw,clocks_event_reasons.active \
    --format=csv,noheader 2>/dev/null | head -n 1)
write_results
ask_pytorch
[ -s "$work/ladder" ] || { echo "bench_cuda.sh: nothing was measured" >&2; exit 1; }
write_results
awk -F, '/,pytorch/ {
    printf "%-18s %-4s N %5s, d %3s %-7s %10.3f ms; complete is %s times as fast\n", $2, $3, $6, $7,
        ($8 == 1 ? "causal" : ""), $11, $14
}' "$results"
# Each kernel against what it was, where that makes a difference.
[ ! -s "$work/before" ] || awk -F, '
    /^# command/ && FNR == NR { sub(/^# command: /, ""); print "before: " $0 }
    /^#/ || $2 ~ /^pytorch/ || $11 + 0 == 0 { next }
    { at = $2 "," $3 "," $4 * $5 "," $6 "," $7 "," $8 }
    FNR == NR { before[at] = $11; next }
    at in before && (before[at] / $11 > 1.02 || before[at] / $11 < 0.98) {
        printf "%-18s %-4s N %5s, d %3s %-7s %10.3f ms, before %10.3f ms: %.2f times as fast\n", $2, $3, $6, $7,
            ($8 == 1 ? "causal" : ""), $11, before[at], before[at] / $11
    }' "$work/before" "$results"
echo "written to $results"
exit $status
