#!/bin/sh
# barriers.sh - a table of chapter 06's barriers: which tests reject a version without it.
cd 06_flash_tiled_cuda/tests/mutants || exit 2
echo '| without the barrier where | in | wrong results | four orders | race detector |'
echo '|---|---|---|---|---|'
for patch in $(grep -l '^-.*__syncthreads();' ./*.patch); do
    ! grep -q '^+.*__syncthreads();' "$patch" || continue  # it is only elsewhere
    where=$(sed -n 's|^-.*__syncthreads(); *// *||p' "$patch")
    file=$(sed -n 's|^--- a/.*/||p' "$patch")
    row="| $where | \`$file\` |"
    for test in agrees_with_the_reference do_not_change_the_answer leave_no_race; do
        if grep -q "^Caught by:.*::$test" "$patch"; then row="$row yes |"; else row="$row – |"; fi
    done
    echo "$row"
done
