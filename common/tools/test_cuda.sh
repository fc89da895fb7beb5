#!/bin/sh
# test_cuda.sh BUILD CHAPTER [tests | checkers] - the tests of CHAPTER's kernels on a GPU and, if installed,
# NVIDIA's checkers; or one of the two.
#
# Runs all suites and kernels; exits with 1 if one failed, and with 77 without a GPU. DRY=1: one suite, on the
# emulator.
build=$1 chapter=$2 only=$3 status=0
run=$build/$chapter
# Suites of kernels are named like the kernels.
kernels() { sh common/tools/kernels_of.sh "$run" "$1" | sed 's/^cuda_//'; }
suites="$(kernels f32) steps kernels" of_16_bits="$(kernels bf16 | grep -vx complete) tensor_cores" types='f32 bf16'
case $chapter in
06_*) there=--device-info prefix='' suites="device $suites every_kernel dropout" ;;
07_*) there='--n-q 9 --quiet' prefix=cuda_ suites="$suites program" of_16_bits="$of_16_bits hopper" ;;
esac
on=gpu
[ -z "$DRY" ] || on=cpu suites=naive of_16_bits=''
case $DRY,$chapter in ?*,07_*) suites=recompute ;; esac
limit() {  # hung kernels; killing this script kills it too
    if command -v timeout >/dev/null; then timeout --foreground -k 10 120 "$@"; else "$@"; fi
}

# shellcheck disable=SC2086  # two words
"$run" $there --device $on || exit
# Types that the GPU does not support are skipped, with a message.
known=''
for type in $types; do
    "$run" --device $on --quiet --n-q 9 --d 64 --dtype "$type"
    case $? in
    0) known="$known $type" ;;
    77) of_16_bits='' && echo "skipped: what needs --dtype $type, of $chapter" ;;
    *) known="$known $type" status=1 ;;
    esac
done
[ -n "$DRY" ] || export CUDA_TESTS=gpu
export BUILD="$build"
[ "$only" = checkers ] || for suite in $suites $of_16_bits; do
    echo "$prefix$suite:"
    "$build/tests/$chapter" --filter "$prefix$suite/*" --jobs "$(getconf _NPROCESSORS_ONLN)" || status=1
done
# Kernels for other GPUs exit with 77.
[ "$only" = tests ] || for tool in memcheck racecheck; do
    if command -v compute-sanitizer >/dev/null; then
        for type in $known; do
            for kernel in $(sh common/tools/kernels_of.sh "$run" "$type"); do
                limit compute-sanitizer --tool $tool --error-exitcode 1 "$run" --device $on --quiet \
                    --step "$kernel" --dtype "$type" --n-q 300 --n-k 330 --d 64 --heads 2 --causal
                case $? in
                0) echo "$tool: $kernel, $type: ok" ;;
                77) echo "$tool: $kernel, $type: for other GPUs" ;;
                *) echo "$tool: $kernel, $type: FAILED" && status=1 ;;
                esac
            done
        done
    else
        echo "compute-sanitizer $tool: skipped, it is not installed (it comes with the toolkit, and on PyPI as"
        echo "nvidia-cuda-sanitizer-api)"
    fi
done
exit $status
