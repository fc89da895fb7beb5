#!/bin/sh
# gpu.sh check STEP... - are these good steps, and ONLY, BEFORE and MINUTES good too? So it is known before anything is built.
# gpu.sh BUILD STEP... - what a machine with a GPU can do for the course, in this order:
#
#     instructions   what kernels are made of: the functions of cuda/tensor.h and cuda/hopper.h, one by one
#     kernels        every kernel alone, two problems each: right, wrong, or it never came to its end
#     bench          the ladders and PyTorch, of those kernels that were right: NN_chapter/results/GPU.csv
#     curve          naive and fa2 in float32 against N: 06_flash_tiled_cuda/results/time_against_n.csv
#     tests          the tests of the chapters' kernels
#     checkers       NVIDIA's memcheck and racecheck, kernel by kernel
#
# Without STEP it does all of them. A stage is a step for one chapter; ONLY names one of the two. A stage is ended after STAGE_SECONDS,
# and if it fails the others still run. The script prints how long a stage should take before it begins, and leaves it for the next
# call if the MINUTES of this one are too few. BUILD/log keeps all output, and for each stage that has ended a file STEP.CHAPTER.done:
# as long as the sources and the GPU are the same, the stage is not done again.
#
# The exit status is 1 if a stage failed, in this call or before, 3 if stages are left, and 77 without a GPU. DRY=1 tries the plan on
# the emulator, with small problems; it writes to BUILD/dry, and replaces no results.
build=$1
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- instructions kernels bench curve tests checkers
ONLY=${ONLY:-06_flash_tiled_cuda 07_backward} STAGE_SECONDS=${STAGE_SECONDS:-480} MINUTES=${MINUTES:-25}
status=0 left=''
if [ -n "$DRY" ]; then log=$build/dry on=cpu; else log=$build/log on=gpu; fi
export DRY
for step in "$@"; do
    case $step in instructions | kernels | bench | curve | tests | checkers) ;; *)
        echo "gpu.sh: STEPS: expected some of instructions, kernels, bench, curve, tests and checkers, found '$step'" >&2
        exit 2
        ;;
    esac
done
for chapter in $ONLY; do
    case $chapter in 06_flash_tiled_cuda | 07_backward) ;; *)
        echo "gpu.sh: ONLY: expected 06_flash_tiled_cuda or 07_backward, found '$chapter'" >&2
        exit 2
        ;;
    esac
done
[ -z "$BEFORE" ] || [ -d "$BEFORE" ] || { echo "gpu.sh: BEFORE: expected a folder, found '$BEFORE'" >&2; exit 2; }
case $MINUTES in '' | *[!0-9]*) echo "gpu.sh: MINUTES: expected a whole number, found '$MINUTES'" >&2; exit 2 ;; esac
[ "$build" != check ] || exit 0
now() { date +%s; }
say() { printf '%-30s %s (after %d s)\n' "$1" "$2" $(($(now) - began)); }
limit() {  # seconds, or what is left of the stage's, command...
    seconds=$((ends - $(now)))
    [ "$1" -gt "$seconds" ] || seconds=$1
    shift
    [ "$seconds" -gt 0 ] || return 124
    if command -v timeout >/dev/null; then timeout -k 10 "$seconds" "$@"; else "$@"; fi
}
began=$(now) ends=$(($(now) + 60))
mkdir -p "$log" || exit 2
here() { sh common/tools/kernels_of.sh "$build/$1" "$2"; }  # chapter, type

limit 60 "$build/${ONLY%% *}" --device $on --n-q 9 --d 64 --quiet >"$log/device" 2>&1
case $? in
77)
    cat "$log/device"
    exit 77
    ;;
esac
{ nvidia-smi; "${NVCC:-nvcc}" --version; } >>"$log/device" 2>&1
[ -n "$DRY" ] || nvidia-smi --format=csv 2>/dev/null \
    --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,clocks_event_reasons.active
# Results are those of these sources and this GPU.
key=$({ find common 0[1-7]_* -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.mk' \
    -o -path 'common/peers/*.py' | sort | xargs cat
    nvidia-smi --query-gpu=name --format=csv,noheader; } 2>/dev/null | cksum)

# ---- how long a stage should take -----------------------------------------------------------------

# The ladders and PyTorch take as many runs and rests as speed.c and pytorch_gpu.py give them, each as long as it took on the H200. How
# long the CPU needs to make the problems, and to start Python, is a guess. A problem with d = 64 that is not in the file takes as long
# as the one with d = 128.
seconds_of_bench='
    function runs(all, once) { return once * 21 < all ? 21 : once * 3 > all ? 3 : int(all / once) }
    function rest(ms) { return (ms < 30 ? ms : 30) / 1000 }
    /^#/ || $11 + 0 == 0 { next }
    $2 ~ /^pytorch/ { seconds += 2 * (0.2 + (runs(2, $11 / 1000) + 2) * $11 / 1000 + runs(2, $11 / 1000) * rest($11)); next }
    {
        at = $3 "," $6 "," $7 "," $8
        once[at] += $11 / 1000; rests[at] += rest($11)
        gigabytes[at] = 4 * (chapter == 7 ? 6 : 3) * $4 * $5 * $6 * $7 / 1e9; d[at] = $7; other[at] = $3 "," $6 "," 64 "," $8
    }
    END {
        for (at in once) {
            s = runs(20, once[at]) * (once[at] + rests[at]) + 2 * once[at] + 1 + 3 * gigabytes[at]
            seconds += s * (1 + (chapter == 6 && d[at] == 128 && !(other[at] in once)))
        }
        printf "%d\n", seconds + 40
    }'
# The time of both kernels grows as N^2.
seconds_of_curve='
    function least(a, b) { return a < b ? a : b }
    $3 == "f32" && $6 == 4096 && $7 == 64 && $8 == 0 && ($2 == "naive" || $2 == "fa2") { once += $11 / 4000 }
    END {
        for (n = 512; n <= 16384; n *= 2) {
            s = once * n * n / 4096 / 4096
            seconds += 2 + (s * 21 < 20 ? 21 : least(21, 1 + int(20 / s))) * s + 2 * s
        }
        printf "%d\n", seconds
    }'
expected() {  # step, chapter; of steps that are in no file of results it is a guess
    figures=$2/results/nvidia_h200.csv
    case $1 in
    bench) awk -F, -v chapter="${2%%_*}" "$seconds_of_bench" "$figures" ;;
    curve) awk -F, "$seconds_of_curve" "$figures" ;;
    kernels) echo $((2 * 2 * $({ here "$2" f32; here "$2" bf16; here "$2" f16; } | wc -l))) ;;
    tests) echo $((8 * $({ here "$2" f32; here "$2" bf16; } | wc -l))) ;;
    checkers) echo $((2 * 5 * $({ here "$2" f32; here "$2" bf16; } | wc -l))) ;;
    *) echo 20 ;;
    esac
}

# ---- the steps ---------------------------------------------------------------------------------

# One kernel, one problem; what went wrong in a word.
verdict() {  # chapter type kernel options
    of=$1 dtype=$2 name=$3
    shift 3
    wrong=$(cat "$log/$of.wrong" 2>/dev/null)
    limit "${KERNEL_SECONDS:-60}" "$build/$of" --device $on --quiet --kernel "$name" --dtype "$dtype" "$@" \
        ${wrong:+--exclude "$wrong"} >"$log/$of.$name.$dtype" 2>&1
    case $? in
    0) echo right ;;
    77) echo 'for other GPUs' ;;
    1) echo WRONG ;;
    124 | 137) echo 'NEVER ENDED' ;;
    *) echo FAILED ;;
    esac
}
# The problems are larger than those that are counted, which a CPU would take seconds for.
kernels() {  # chapter
    : >"$log/$1.wrong"
    set -- "$1" '--n-q 300 --n-k 330 --d 64 --heads 2 --causal' '--n-q 1000 --n-k 1025 --d 128'
    [ -z "$DRY" ] || set -- "$1" '--n-q 33 --d 64 --causal' '--n-q 9 --d 128'
    of_kernels=$1
    shift
    for type in f32 bf16 f16; do
        for kernel in $(here "$of_kernels" $type); do
            for problem in "$@"; do
                # shellcheck disable=SC2086  # words
                found=$(verdict "$of_kernels" $type "$kernel" $problem)
                case $found in right | for*) continue ;; esac
                say "$of_kernels $kernel $type" "$found: $problem"
                sed 's/^/    /' "$log/$of_kernels.$kernel.$type" | head -n 5
                case ",$(cat "$log/$of_kernels.wrong")," in
                *",$kernel,"*) ;;
                *) printf '%s' "$(sed 's/$/,/' "$log/$of_kernels.wrong")$kernel" >"$log/$of_kernels.wrong.new" &&
                    mv "$log/$of_kernels.wrong.new" "$log/$of_kernels.wrong" ;;
                esac
                break
            done
            [ "$found" = right ] && say "$of_kernels $kernel $type" right
        done
    done
    [ ! -s "$log/$of_kernels.wrong" ]
}
instructions() {
    set -- "$build/tests/instructions" 'gpu/*'
    [ -z "$DRY" ] || set -- "$build/tests/cuda" 'primitives/*'
    limit 120 "$1" --filter "$2" >"$log/instructions" 2>&1
    result=$?
    grep -E 'passed, |FAILED|Tested:|expected|failed' "$log/instructions" | head -n 20 | sed 's/^/    /'
    return $result
}
tests() {
    limit "$STAGE_SECONDS" sh common/tools/test_cuda.sh "$build" "$1" tests >"$log/$1.tests" 2>&1
    result=$?
    awk '/:$/ { suite = $1 } /passed, |FAILED|Tested:/ { printf "    %-20s %s\n", suite, $0 }' "$log/$1.tests"
    return $result
}
bench() {
    [ -z "$DRY" ] || RESULTS=$log/$1.csv
    LEAVE_OUT=$(cat "$log/$1.wrong" 2>/dev/null) RESULTS=$RESULTS SECONDS_AT_MOST=${SECONDS_AT_MOST:-300} \
        limit "$STAGE_SECONDS" sh common/tools/bench_cuda.sh "$build/$1" "$1" >"$log/$1.bench" 2>&1
    result=$?
    cat "$log/$1.bench"
    results=$(sed -n 's/^written to //p' "$log/$1.bench")
    case $results in '' | "$log/$1.csv") ;; *) cp "$results" "$log/$1.csv" ;; esac
    return $result
}
curve() {  # naive stores S: 16 heads of 16,384 are 17 GB
    lengths='512 1024 2048 4096 8192 16384' results=06_flash_tiled_cuda/results/time_against_n.csv
    [ -z "$DRY" ] || lengths='32 64' results=$log/time_against_n.written
    {
        echo "# machine: $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | grep . || echo 'no GPU')"
        echo "# command: make gpu STEPS=curve, $(date +%Y-%m-%d), at commit ${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}"
        echo '# one sequence, 16 heads of d = 64, no mask, float32'
        echo 'kernel,n,milliseconds'
    } >"$log/time_against_n.csv"
    for n in $lengths; do
        limit 180 "$build/$1" --bench --device $on --kernel all --exclude fa1,complete --quiet --heads 16 --n-q "$n" --d 64 \
            --csv "$log/curve" >"$log/curve.said" 2>&1 || { sed 's/^/    /' "$log/curve.said" && return 1; }
        awk -F, '$1 == "06" { print $2 "," $6 "," $11; printf "    %-6s N = %5d %12.4f ms\n", $2, $6, $11 >"/dev/stderr" }' \
            "$log/curve" 2>&1 >>"$log/time_against_n.csv"
    done
    cp "$log/time_against_n.csv" "$results"
}
checkers() {
    limit "$STAGE_SECONDS" sh common/tools/test_cuda.sh "$build" "$1" checkers >"$log/$1.checkers" 2>&1
    result=$?
    grep -v '^=====.*COMPUTE-SANITIZER' "$log/$1.checkers" | tail -n 40
    return $result
}

# ---- stage by stage -------------------------------------------------------------------------------

# Sources and GPU that this stage has been done with; nothing if it has not.
is_done() { [ "$(sed -n 1p "$log/$1.$2.done" 2>/dev/null)" = "$key" ]; }
seconds_of() {  # step, chapter
    seconds=$(expected "$1" "$2")
    [ "$seconds" -lt "$STAGE_SECONDS" ] || seconds=$STAGE_SECONDS
}
add() { is_done "$1" "$2" || { seconds_of "$1" "$2" && total=$((total + seconds)) stages=$((stages + 1)); }; }
stage() {  # step, chapter
    done=$log/$1.$2.done
    if is_done "$1" "$2"; then
        say "$1 of $2" "$(sed -n 2p "$done"), in an earlier call; without $done it is done again"
        case $(sed -n 2p "$done") in ok*) ;; *) status=1 ;; esac
        return
    fi
    seconds_of "$1" "$2"
    if [ $(($(now) - began + seconds)) -gt $((60 * MINUTES)) ]; then
        left="$left $1 of $2, about $seconds s;"
        return
    fi
    say "$1 of $2" "begins: about $seconds s, $STAGE_SECONDS at most"
    started=$(now) ends=$(($(now) + STAGE_SECONDS))
    $1 "$2"
    case $? in
    0) word=ok ;;
    124 | 137) word="its time was over: $log/$2.*" ;;
    *) word="FAILED: $log/$2.*" ;;
    esac
    printf '%s\n%s in %d s\n' "$key" "$word" $(($(now) - started)) >"$done"
    say "$1 of $2" "$word"
    [ "$word" = ok ] || status=1
}
each_stage() {  # what to do with it, step...
    what=$1
    shift
    for step in "$@"; do
        case $step in
        instructions) $what instructions all ;;
        curve) case $ONLY in *06_*) $what curve 06_flash_tiled_cuda ;; esac ;;
        *) for chapter in $ONLY; do $what "$step" "$chapter"; done ;;
        esac
    done
}
total=0 stages=0
each_stage add "$@"
echo "$stages stages to do: about $total s; this call takes $((60 * MINUTES)) s at most"
each_stage stage "$@"
[ -z "$left" ] || echo "left for the next call:$left MINUTES was $MINUTES"
[ -z "$left" ] || [ $status -ne 0 ] || status=3
exit $status
