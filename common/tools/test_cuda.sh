#!/bin/sh
# test_cuda.sh BUILD CHAPTER - the tests of CHAPTER's kernels on a GPU, and NVIDIA's own checkers where installed.
#
# Ends with 77 where there is no GPU: that is not a pass.
build=$1 chapter=$2
run=$build/$chapter
case $chapter in
06_*)
    there='--kernel device' prefix='' types='f32 bf16'
    suites='device naive fa1 fa2 complete rungs kernels dropout'
    of_16_bits='mma swizzle async exp2 skip rescale budget wgmma roles overlap pingpong persistent polynomial tensor_cores'
    ;;
07_*)
    there='--n-q 9 --quiet' prefix=cuda_ types='f32 bf16'
    suites='standard recompute deterministic complete rungs kernels program'
    of_16_bits='mma_split mma tensor_cores wgmma bulk ordered hopper'
    ;;
esac
# The kernels that know a type. Chapter 07 lists all, and steps in C before them: who does not know the type refuses it.
kernels() {  # type
    case $chapter in
    06_*) "$run" --kernel list --quiet --dtype "$1" ;;
    *)
        for name in $("$run" --kernel list --quiet | grep '^cuda_'); do
            "$run" --device cpu --quiet --kernel "$name" --dtype "$1" --n-q 9 --d 64 >/dev/null 2>&1 && echo "$name"
        done
        ;;
    esac
}

# shellcheck disable=SC2086  # two words
"$run" $there --device gpu || exit
# A type that the GPU is too old for is left out: the program says so, and here is what is not tested.
known=''
for type in $types; do
    dtype=''
    [ "$type" = f32 ] || dtype="--dtype $type"
    # shellcheck disable=SC2086  # two words, or none
    "$run" --device gpu --quiet --n-q 9 --d 64 $dtype
    case $? in
    0) known="$known $type" ;;
    77) of_16_bits='' && echo "skipped: what needs --dtype $type, of $chapter" ;;
    *) exit 1 ;;
    esac
done
export CUDA_TESTS=gpu BUILD="$build"
for suite in $suites $of_16_bits; do
    "$build/tests/$chapter" --filter "$prefix$suite/*" || exit 1
done
# A kernel that is for other GPUs says so with 77.
for tool in memcheck racecheck; do
    if command -v compute-sanitizer >/dev/null; then
        for type in $known; do
            dtype="--dtype $type"
            [ "$type" != f32 ] || dtype=''
            for kernel in $(kernels "$type"); do
                # shellcheck disable=SC2086  # two words, or none
                compute-sanitizer --tool $tool --error-exitcode 1 "$run" --device gpu --quiet \
                    --kernel "$kernel" $dtype --n-q 200 --n-k 130 --d 64 --causal || [ $? -eq 77 ] || exit 1
            done
        done
    else
        echo "compute-sanitizer $tool: skipped, it is not installed (it comes with the toolkit, and on PyPI as"
        echo "nvidia-cuda-sanitizer-api)"
    fi
done
