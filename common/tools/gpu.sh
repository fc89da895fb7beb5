#!/bin/sh
# gpu.sh BUILD STEP... - what a machine with a GPU can do for the course, in this order:
#
#     instructions   what kernels are made of: the functions of cuda/tensor.h and cuda/hopper.h, one by one
#     kernels        every kernel alone, two problems each: right, wrong, or it never came to its end
#     tests          the tests of the chapters' kernels
#     bench          the ladders and PyTorch, of those kernels that were right: NN_chapter/results/GPU.csv
#     checkers       NVIDIA's memcheck and racecheck, kernel by kernel
#
# Without STEP all of them. Each has its time, and what fails does not keep the rest from going on; the end is 1 then, and
# 77 where there is no GPU. BUILD/log has all that was said; standard output says how it went. ONLY: one chapter, else both;
# STEP_SECONDS: what the tests, or the checkers, of one may take.
build=$1
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- instructions kernels tests bench checkers
ONLY=${ONLY:-06_flash_tiled_cuda 07_backward} STEP_SECONDS=${STEP_SECONDS:-1200}
log=$build/log status=0
for step in "$@"; do
    case $step in instructions | kernels | tests | bench | checkers) ;; *)
        echo "gpu.sh: $step: expected instructions, kernels, tests, bench or checkers" >&2
        exit 2
        ;;
    esac
done
limit() {  # seconds command...
    seconds=$1
    shift
    if command -v timeout >/dev/null; then timeout -k 10 "$seconds" "$@"; else "$@"; fi
}
say() { printf '%-30s %s (after %d s)\n' "$1" "$2" $(($(date +%s) - began)); }
began=$(date +%s)
mkdir -p "$log" || exit 2
here() { sh common/tools/kernels_of.sh "$build/$1" "$2"; }  # chapter, type

limit 60 "$build/${ONLY%% *}" --device gpu --n-q 9 --d 64 --quiet >"$log/device" 2>&1
case $? in
77)
    cat "$log/device"
    exit 77
    ;;
esac
{ nvidia-smi; "${NVCC:-nvcc}" --version; } >>"$log/device" 2>&1
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,clocks_event_reasons.active \
    --format=csv 2>/dev/null

# One kernel, one problem; what went wrong in a word.
verdict() {  # chapter type kernel options
    of=$1 dtype=$2 name=$3
    shift 3
    wrong=$(cat "$log/$of.wrong" 2>/dev/null)
    limit "${KERNEL_SECONDS:-60}" "$build/$of" --device gpu --quiet --kernel "$name" --dtype "$dtype" "$@" \
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
    for type in f32 bf16 f16; do
        for kernel in $(here "$1" $type); do
            for problem in '--n-q 300 --n-k 330 --d 64 --heads 2 --causal' '--n-q 1000 --n-k 1025 --d 128'; do
                # shellcheck disable=SC2086  # words
                found=$(verdict "$1" $type "$kernel" $problem)
                case $found in right | for*) continue ;; esac
                say "$1 $kernel $type" "$found: $problem"
                sed 's/^/    /' "$log/$1.$kernel.$type" | head -n 5
                case ",$(cat "$log/$1.wrong")," in
                *",$kernel,"*) ;;
                *) printf '%s' "$(sed 's/$/,/' "$log/$1.wrong")$kernel" >"$log/$1.wrong.new" && mv "$log/$1.wrong.new" "$log/$1.wrong" ;;
                esac
                break
            done
            [ "$found" = right ] && say "$1 $kernel $type" right
        done
    done
    [ ! -s "$log/$1.wrong" ]
}
instructions() {
    limit 120 "$build/tests/instructions" --filter 'gpu/*' >"$log/instructions" 2>&1
    result=$?
    grep -E 'passed, |FAILED|Tested:|expected|failed' "$log/instructions" | head -n 20 | sed 's/^/    /'
    return $result
}
tests() {
    limit "$STEP_SECONDS" sh common/tools/test_cuda.sh "$build" "$1" tests >"$log/$1.tests" 2>&1
    result=$?
    awk '/:$/ { suite = $1 } /passed, |FAILED|Tested:/ { printf "    %-20s %s\n", suite, $0 }' "$log/$1.tests"
    return $result
}
bench() {
    LEAVE_OUT=$(cat "$log/$1.wrong" 2>/dev/null) SECONDS_AT_MOST=${SECONDS_AT_MOST:-300} \
        sh common/tools/bench_cuda.sh "$build/$1" "$1" >"$log/$1.bench" 2>&1
    result=$?
    cat "$log/$1.bench"
    return $result
}
checkers() {
    limit "$STEP_SECONDS" sh common/tools/test_cuda.sh "$build" "$1" checkers >"$log/$1.checkers" 2>&1
    result=$?
    grep -v '^=====.*COMPUTE-SANITIZER' "$log/$1.checkers" | tail -n 40
    return $result
}

for step in "$@"; do
    for chapter in $([ "$step" = instructions ] && echo all || echo "$ONLY"); do
        $step "$chapter"
        case $? in
        0) say "$step of $chapter" ok && continue ;;
        124 | 137) say "$step of $chapter" "its time was over: $log/$chapter.*" ;;
        *) say "$step of $chapter" "FAILED: $log/$chapter.*" ;;
        esac
        status=1
    done
done
exit $status
