#!/bin/sh
# gpu.sh BUILD - a quarter of an hour on a GPU: the stages of this plan, with their seconds, 780 in all.
#
#     build       40   the programs, unless BUILD has them already, made from these sources: `make gpu-build` needs no GPU
#     right       90   the Hopper kernels in bfloat16, the newest first, two problems each: right, wrong, or never ended
#     headline   200   those that were right, cuDNN and flash, in turns: forward and backward, d and N, both masks
#     curve       40   naive and fa2 in float32 against N
#     profile     60   Nsight Compute's view of the fastest kernel forward, the fastest backward, and cuDNN's
#     before      50   the same kernels of another build, BEFORE, in turns with these; nothing without BEFORE
#     float16     40   as `right`, in float16
#     older      190   the other kernels, in bfloat16 and float32, and PyTorch in float32
#     memcheck    70   NVIDIA's memcheck of the newest kernel forward and the newest backward
#
# A stage ends after its seconds; its results so far are kept in BUILD/results/STAGE, and in the folder OUT if
# given. It does not run again for these sources and this GPU, so the next call continues where this one ended
# or was killed. LIMIT is this call's seconds: the first stage that does not fit and all later ones wait for
# the next call.
#
# Exit status: 0, 1 if a stage failed, 3 if stages are left, 77 without a GPU. DRY=1 tries the plan on the
# emulator with small problems and the H200's figures; results are in BUILD/dry.
#
# gpu.sh BUILD STAGE - one stage, to standard output. gpu.sh BUILD key - a checksum of the sources.
build=$1
sources() {
    find common 0[1-7]_* '(' -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' ')' ! -path '*/tests/*' |
        LC_ALL=C sort | xargs cat | cksum | tr ' ' -
}
results=$build/results on=gpu
[ -z "$DRY" ] || results=$build/dry on=cpu
python=${PYTHON:-python3}

program() { ls -d "$build/$1"_*[a-z]; }  # of chapter 06 or 07
limit() { timeout --foreground -k 2 "$@"; }  # seconds, command...

# ---- kernels ------------------------------------------------------------------------------------

kernels() { sh common/tools/kernels_of.sh "$(program "$1")" "$2"; }  # chapter, type
is_hopper() { ls "$1"_*/kernels/3_hopper/"${2#cuda_}.cu" >/dev/null 2>&1; }  # chapter, kernel
hopper() {  # chapter: the newest first
    for kernel in $(kernels "$1" bf16); do
        ! is_hopper "$1" "$kernel" || echo "$kernel"
    done | sed '1!G;h;$!d'
}
wrong() { sed -n "s/^$1 \([^ ]*\) [^ ]*: [^r].*/\1/p" "$results"/right "$results"/float16 2>/dev/null; }  # chapter
# The right kernels of a type, except one kind, separated by commas.
all_but() {  # hopper, older or a kernel; chapter, type
    for kernel in $(kernels "$2" "$3"); do
        case $1 in
        hopper) is_hopper "$2" "$kernel" ;;
        older) ! is_hopper "$2" "$kernel" ;;
        *) [ "$kernel" = "$1" ] ;;
        esac && ! wrong "$2" | grep -qx "$kernel" || echo "$kernel"
    done | paste -sd, -
}

# Tries every Hopper kernel of both chapters in a type: one line each. A wrong kernel is not tried again.
try() {  # type
    small='--n-q 300 --n-k 330 --d 64 --heads 2 --causal' large='--n-q 1000 --n-k 1025 --d 128'
    [ -z "$DRY" ] || small='--n-q 33 --d 64 --causal' large='--n-q 9 --d 128'
    for chapter in 06 07; do hopper $chapter | awk -v chapter=$chapter '{ print NR, chapter, $1 }'; done | sort -sn |
        while read -r _ chapter kernel; do
            for problem in "$small" "$large"; do
                # shellcheck disable=SC2086  # words
                said=$(limit "${KERNEL_SECONDS:-10}" "$(program "$chapter")" --device $on --quiet --step "$kernel" --dtype "$1" \
                    $problem --exclude "$(all_but "$kernel" "$chapter" "$1")" 2>&1)
                case $? in
                0) word=right ;;
                77) word='for other GPUs' ;;
                124 | 137) word="NEVER ENDED: $problem" ;;
                1) word="WRONG: $problem" ;;
                *) word="FAILED: $problem" ;;
                esac
                [ "$word" = right ] || break
            done
            echo "$chapter $kernel $1: $word"
            [ "$word" = right ] || echo "$said" | sed 's/^/    /' | head -n 5
        done
    ! grep -q ': [A-Z]' "$results/.part"
}

# ---- times --------------------------------------------------------------------------------------

# Times one problem, as rows of CSV: `ladder KIND CHAPTER TYPE N d CAUSAL`. A failure does not end the stage.
ladder() {
    if [ -n "$DRY" ]; then
        "$(program "$2")" --device cpu --quiet --step "$(kernels "$2" "$3" | tail -n 1)" --n-q 33 --d 64 --dtype "$3" >/dev/null
        awk -F, -v at="$3,$4,$5,$6" '$3 "," $6 "," $7 "," $8 == at' "$2"_*/results/nvidia_h200.csv
        return
    fi
    rm -f "$results/.csv"
    limit 60 env LADDER="$4,$5,$6" "$(program "$2")" --bench --device gpu --dtype "$3" --exclude "$(all_but "$1" "$2" "$3")" \
        --csv "$results/.csv" >/dev/null || echo "# $*: status $?"
    grep -s '^0[67],' "$results/.csv"
}
has_rows() { grep -q '^0[67],' "$results/.part"; }
title=chapter,kernel,dtype,batch,heads,n,d,causal,direction,device,milliseconds,gflops,peak_fraction,ratio_previous,max_abs_error
# Reads problems, lines of `CHAPTER TYPE N d CAUSAL`, and measures each; PyTorch, if installed, before and
# after the kernels.
measure() {  # kind
    if "$python" -c "import sys, torch; sys.exit(not ('$DRY' or torch.cuda.is_available()))" 2>/dev/null; then
        "$python" common/peers/pytorch_gpu.py ${DRY:+dry} sh "$0" "$build" ladder "$1"
    else
        echo '# no PyTorch'
        while read -r problem; do
            # shellcheck disable=SC2086  # words
            ladder "$1" $problem </dev/null
        done
    fi
}
problems() {  # type, N...
    for n in $2; do
        for d in 64 128; do
            for causal in 0 1; do
                for chapter in 06 07; do echo "$chapter $1 $n $d $causal"; done
            done
        done
    done
}

# ---- the stages ---------------------------------------------------------------------------------

runs() { "$(program "$1")" --device "${2:-cpu}" --quiet --n-q 9 --d 64 >/dev/null 2>&1; }  # chapter
made() { [ "$(cat "$build/sources" 2>/dev/null)" = "$(sources)" ] && runs 06 && runs 07; }
build() { [ -n "$DRY" ] || made || ${MAKE:-make} gpu-build; }
right() { try bf16; }
float16() { try f16; }
headline() { echo $title && problems bf16 '4096 8192' | measure hopper; has_rows; }
older() {
    echo $title
    problems bf16 4096 | while read -r problem; do
        # shellcheck disable=SC2086  # words
        ladder older $problem </dev/null
    done
    problems f32 4096 | measure older
    has_rows
}
curve() {  # naive stores S: 16 heads of 16,384 are 17 GB
    echo '# one sequence, 16 heads of d = 64, no mask, float32'
    echo 'kernel,n,milliseconds'
    lengths='512 1024 2048 4096 8192 16384'
    [ -z "$DRY" ] || lengths='32 64'
    for n in $lengths; do
        "$(program 06)" --bench --device $on --step all --exclude fa1,complete --quiet --heads 16 --n-q "$n" --d 64 \
            --csv "$results/.csv" >/dev/null || return
        awk -F, '$1 == "06" { print $2 "," $6 "," $11 }' "$results/.csv"
    done
}
fastest() {  # chapter: of the headline
    awk -F, -v chapter="$1" '$1 == chapter && $2 !~ /^pytorch/ && $6 == 4096 && $7 == 128 && $8 == 0 && $12 + 0 > most {
        most = $12 + 0; name = $2 } END { print name }' "$results/headline" 2>/dev/null
}
view() {  # which kernels, command...
    kernels=$1
    shift
    # The first launch is the check or a warm-up.
    limit 20 env LADDER=4096,128,0 ncu --clock-control none --print-details all --metrics lts__t_bytes.sum --section SpeedOfLight \
        --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis --section WarpStateStats \
        --kernel-name "regex:$kernels" --launch-skip 1 --launch-count 1 "$@" 2>&1 || echo "# $kernels: status $?"
}
profile() {
    command -v ncu >/dev/null || { echo 'skipped: ncu is not installed'; return; }
    for chapter in 06 07; do
        kernel=$(fastest $chapter)
        [ -z "$kernel" ] || view "^${kernel#cuda_}_tile" "$(program $chapter)" --bench --device $on --dtype bf16 \
            --exclude "$(all_but "$kernel" $chapter bf16)"
    done
    for pass in 06.fprop 07.bprop; do
        echo "${pass%.*} bf16 4096 128 0" | view "sdpa.*${pass#*.}" "$python" common/peers/pytorch_gpu.py ${DRY:+dry} true
    done
}
before() {  # this, the other, and this again
    here=$build
    for problem in '06 bf16 8192 128 0' '07 bf16 8192 128 0'; do
        for build in "$here" "$BEFORE" "$here"; do
            # shellcheck disable=SC2086  # words
            ladder hopper $problem </dev/null | sed "s|^0|$build,0|"
        done
    done
}
memcheck() {
    command -v compute-sanitizer >/dev/null || { echo 'skipped: compute-sanitizer is not installed'; return; }
    bad=0
    for chapter in 06 07; do
        limit 33 compute-sanitizer --tool memcheck --error-exitcode 1 "$(program $chapter)" --device $on --quiet --dtype bf16 \
            --step "$(hopper $chapter | head -n 1)" --n-q 300 --n-k 330 --d 64 --heads 2 --causal 2>&1 || bad=1
    done
    return $bad
}

# ---- the plan -----------------------------------------------------------------------------------

plan() { sed -n 's/^#     \([a-z0-9]*\)  *\([0-9][0-9]*\)   .*/\1 \2/p' "$0"; }
stage=$2
case $stage in
'') ;;
key) sources && exit ;;
ladder) shift 2 && ladder "$@" && exit ;;
*) plan | grep -q "^$stage " && { "$stage"; exit; } ;;
esac
[ $# -eq 1 ] || { echo "gpu.sh: expected a folder of programs, and perhaps one of: $(plan | tr '\n' ' ')" >&2; exit 2; }
case ${LIMIT:=780} in *[!0-9]*) echo "gpu.sh: LIMIT: expected seconds, found '$LIMIT'" >&2; exit 2 ;; esac
[ -z "$BEFORE" ] || [ -d "$BEFORE" ] || { echo "gpu.sh: BEFORE: expected a folder of programs, found '$BEFORE'" >&2; exit 2; }

command -v timeout >/dev/null || { echo "gpu.sh: expected timeout, of GNU's coreutils" >&2; exit 2; }
began=$(date +%s) status=0 key=$(sources)
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$DRY$gpu" ] || { echo 'SKIPPED: nvidia-smi names no GPU here'; exit 77; }
mkdir -p "$results" || exit 2
# A killed call may have left its stage running.
! grep -qs gpu.sh "/proc/$(cat "$results/.pid" 2>/dev/null)/cmdline" || kill -9 "-$(cat "$results/.pid")"
is_done() { grep -qx "# sources: $key; ${gpu:-no GPU}" "$results/$1" 2>/dev/null; }
say() { printf '%-10s %s (after %d s)\n' "$1" "$2" $(($(date +%s) - began)); }
head_of() {  # how the stage ended
    echo "# $stage: $1"
    echo "# machine: ${gpu:-no GPU}: name, driver"
    echo "# toolkit: nvcc $("${NVCC:-nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p'), $("$python" \
        -c 'from importlib.metadata import version; print("PyTorch", version("torch"))' 2>/dev/null || echo 'no PyTorch')"
    echo "# command: make gpu, $(date +%Y-%m-%d), at commit ${COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}"
    echo "# just after it: $(nvidia-smi --query-gpu=clocks.sm,clocks.max.sm,temperature.gpu,power.draw,clocks_event_reasons.active \
        --format=csv,noheader 2>/dev/null | head -n 1): clock, its most, temperature, power, reasons for a lower clock"
    echo "# sources: $key; ${gpu:-no GPU}"
}

plan | {
trap 'kill "$(cat "$results/.pid")" 2>/dev/null; exit 130' INT TERM
while read -r stage seconds; do
    [ "$stage" != before ] || [ -n "$BEFORE" ] || continue
    if is_done "$stage"; then
        say "$stage" "$(sed -n "1s/^# $stage: //p" "$results/$stage"), in an earlier call"
        continue
    fi
    left=$((LIMIT - $(date +%s) + began))
    if [ $((10 * left)) -lt $((9 * seconds)) ]; then
        say "$stage" "and what follows is left for the next call: it takes up to $seconds s"
        exit 3
    fi
    [ "$seconds" -lt "$left" ] && [ "$stage" != build ] || seconds=$left
    say "$stage" "begins: $seconds s at most"
    started=$(date +%s)
    timeout -k 5 "$seconds" sh "$0" "$build" "$stage" >"$results/.part" </dev/null &
    echo $! >"$results/.pid"
    wait $!
    case $? in
    0) word=ok ;;
    124 | 137) word='cut off' ;;
    *) word=FAILED ;;
    esac
    rm -f "$results/.pid"
    took="$word after $(($(date +%s) - started)) s"
    say "$stage" "$took"
    [ "$word" = ok ] || status=1
    if [ "$stage" != build ]; then
        { head_of "$took" && cat "$results/.part"; } >"$results/.new" && mv "$results/.new" "$results/$stage"
        [ -z "$OUT" ] || cp "$results"/* "$OUT"
    fi
    [ "$word" = ok ] || { [ "$stage" != build ] && { [ -n "$DRY" ] || runs 06 gpu; }; } || {
        echo 'what follows is left for the next call: no kernel runs'
        exit 1
    }
done
exit $status
}
