#!/bin/sh
# test_cuda.sh BUILD CHAPTER - the tests of CHAPTER's kernels on a GPU, and NVIDIA's own checkers where installed.
#
# Ends with 77 where there is no GPU: that is not a pass.
build=$1 chapter=$2
case $chapter in
06_*)
    there='--kernel device' prefix=''
    suites='device naive fa1 fa2 complete rungs kernels dropout' kernels='naive fa1 fa2 complete'
    ;;
07_*)
    there='--n-q 9 --quiet' prefix=cuda_
    suites='standard recompute deterministic complete rungs kernels program'
    kernels='cuda_standard cuda_recompute cuda_deterministic cuda_complete'
    ;;
esac
# shellcheck disable=SC2086  # two words
"$build/$chapter" $there --device gpu || exit
export CUDA_TESTS=gpu BUILD="$build"
for suite in $suites; do
    "$build/tests/$chapter" --filter "$prefix$suite/*" || exit 1
done
for tool in memcheck racecheck; do
    if command -v compute-sanitizer >/dev/null; then
        for kernel in $kernels; do
            compute-sanitizer --tool $tool --error-exitcode 1 "$build/$chapter" --device gpu --quiet \
                --kernel $kernel --n-q 200 --n-k 130 --d 64 --causal || exit 1
        done
    else
        echo "compute-sanitizer $tool: skipped, it is not installed (it comes with the toolkit, and on PyPI as"
        echo "nvidia-cuda-sanitizer-api)"
    fi
done
