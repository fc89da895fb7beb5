#!/bin/sh
# test_cuda.sh BUILD CHAPTER - the tests of CHAPTER's kernels on a GPU, and NVIDIA's own checkers where installed.
#
# Ends with 77 where there is no GPU: that is not a pass.
build=$1 chapter=$2
"$build/$chapter" --kernel device --device gpu || exit
export CUDA_TESTS=gpu BUILD="$build"
for suite in device naive fa1 fa2 mma swizzle async exp2 skip rescale budget complete rungs kernels dropout \
    tensor_cores; do
    "$build/tests/$chapter" --filter "$suite/*" || exit 1
done
for tool in memcheck racecheck; do
    if command -v compute-sanitizer >/dev/null; then
        for type in f32 bf16; do
            for kernel in $("$build/$chapter" --kernel list --quiet --dtype $type); do
                compute-sanitizer --tool $tool --error-exitcode 1 "$build/$chapter" --device gpu --quiet \
                    --kernel $kernel --dtype $type --n-q 200 --n-k 130 --d 64 --causal || exit 1
            done
        done
    else
        echo "compute-sanitizer $tool: skipped, it is not installed (it comes with the toolkit, and on PyPI as"
        echo "nvidia-cuda-sanitizer-api)"
    fi
done
