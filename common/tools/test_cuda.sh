#!/bin/sh
# test_cuda.sh BUILD CHAPTER - the tests of CHAPTER's kernels on a GPU, and NVIDIA's own checkers where installed.
#
# Ends with 77 where there is no GPU: that is not a pass.
build=$1 chapter=$2
run=$build/$chapter
case $chapter in
06_*)
    there='--kernel device' prefix='' types='f32 bf16'
    suites='device naive fa1 fa2 mma swizzle async exp2 skip rescale budget complete rungs kernels dropout tensor_cores'
    ;;
07_*)
    there='--n-q 9 --quiet' prefix=cuda_ types=f32
    suites='standard recompute deterministic complete rungs kernels program'
    ;;
esac
# The kernels that know a type; chapter 07 has steps in C before them.
kernels() {  # type
    case $chapter in
    06_*) "$run" --kernel list --quiet --dtype "$1" ;;
    *) "$run" --kernel list --quiet | grep '^cuda_' ;;
    esac
}

# shellcheck disable=SC2086  # two words
"$run" $there --device gpu || exit
export CUDA_TESTS=gpu BUILD="$build"
for suite in $suites; do
    "$build/tests/$chapter" --filter "$prefix$suite/*" || exit 1
done
for tool in memcheck racecheck; do
    if command -v compute-sanitizer >/dev/null; then
        for type in $types; do
            dtype="--dtype $type"
            [ "$type" != f32 ] || dtype=''
            for kernel in $(kernels "$type"); do
                # shellcheck disable=SC2086  # two words, or none
                compute-sanitizer --tool $tool --error-exitcode 1 "$run" --device gpu --quiet \
                    --kernel "$kernel" $dtype --n-q 200 --n-k 130 --d 64 --causal || exit 1
            done
        done
    else
        echo "compute-sanitizer $tool: skipped, it is not installed (it comes with the toolkit, and on PyPI as"
        echo "nvidia-cuda-sanitizer-api)"
    fi
done
