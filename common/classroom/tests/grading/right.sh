# shellcheck shell=sh disable=SC2154
# Sourced by grading.sh: what is right earns all points, and what is wrong loses its own part and no other.

if is_wanted right_in_a_folder; then
    mkdir -p "$work/in/01_standard_softmax"
    cp $lesson "$work/in/01_standard_softmax/"
    echo 'seed 3' >"$work/in/STARTER"
    echo '1.n = 3' >"$work/in/01_standard_softmax/answers.txt"
    honest "$work/in"
fi
if is_wanted right_without_folders; then
    cp $lesson "$work/in/"
    honest "$work/in"
fi
if is_wanted right_in_a_tar; then
    tar -czf "$work/in/a.tar.gz" $lesson
    honest "$work/in/a.tar.gz"
fi
if is_wanted right_in_a_zip; then
    if command -v zip >/dev/null && command -v unzip >/dev/null; then
        zip -q "$work/in/a.zip" $lesson
        honest "$work/in/a.zip"
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted right_in_a_tar_in_a_folder; then  # as what is uploaded is kept
    mkdir "$work/in/ann"
    tar -czf "$work/in/ann/submission.tar.gz" $lesson
    honest "$work/in/ann"
fi
if is_wanted other_files_do_not_matter; then  # a submission that deletes and replaces tests, checkers and Makefile
    mkdir -p "$work/in/01_standard_softmax/tests" "$work/in/common/classroom/grader"
    cp $lesson "$work/in/01_standard_softmax/"
    echo 'exit 1' >"$work/in/common/classroom/grader/grade.sh"
    echo 'all: ; exit 1' >"$work/in/Makefile"
    echo '#error' >"$work/in/01_standard_softmax/standard_softmax.h"
    echo '#error' >"$work/in/01_standard_softmax/tests/test_standard_softmax.c"
    honest "$work/in"
fi
if is_wanted seed_repeats; then
    mkdir -p "$work/in/01_standard_softmax"
    cp -R 01_standard_softmax/. "$work/in/01_standard_softmax/"
    awk -f common/tools/mistakes.awk apply "$work/in" 01_standard_softmax/tests/mistakes.txt "$(sed -n 's/^Name: //p' 01_standard_softmax/tests/mistakes.txt | head -n 1)"
    grade "$work/in"
    cp "$work/reports/report.json" "$work/first.json"
    grade "$work/in"
    if cmp -s "$work/first.json" "$work/reports/report.json"; then pass; else fail 'the same seed gave another report'; fi
fi

# ---- what is wrong loses its own part, and no other ------------------------------------------------

if is_wanted a_crash_costs_its_part; then
    mkdir -p "$work/in/03_online_softmax"
    cp 03_online_softmax/*.c "$work/in/03_online_softmax/"
    sed 's/return total;/for (;;) ;/; s/^float softmax_share(.*/&/; /^float softmax_share/,/^}/s/{/{ *(volatile int *)0 = 1;/' \
        03_online_softmax/softmax_state.c >"$work/in/03_online_softmax/softmax_state.c"
    BUILDS=plain grade "$work/in" 03
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'merge output')" = 3 ] && [ "$(column 'share output')" = 0 ] &&
        report | grep -q 'share, ordinary blocks: crashed it was ended by a segmentation fault'; then pass; else fail 'expected points for all but share'; fi
fi
if is_wanted an_endless_loop_costs_its_part; then  # though it will not hear that its time is over
    mkdir -p "$work/in/03_online_softmax"
    cp 03_online_softmax/*.c "$work/in/03_online_softmax/"
    sed -e '1s/^/int (*signal(int, int (*)(int)))(int); /' \
        -e '/^float softmax_share/,/^}/s/{/{ signal(24, (int (*)(int))1); for (volatile int k = 0; ; k = 1 - k) ;/' \
        03_online_softmax/softmax_state.c >"$work/in/03_online_softmax/softmax_state.c"
    BUILDS=plain grade "$work/in" 03
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'merge output')" = 3 ] && [ "$(column 'share output')" = 0 ] &&
        report | grep -q 'ordinary blocks: too slow it had not ended'; then pass; else fail 'expected points for all but share'; fi
fi
# What a part is about weighs as much as all the rest; and a mask that skips no tile is right, and no saving.
if is_wanted the_step_before_earns_nothing; then
    mkdir -p "$work/in/02_safe_softmax" "$work/in/05_flash_tiled_cpu/steps"
    sed 's|01_standard_softmax/standard|02_safe_softmax/safe|; s/standard_softmax/safe_softmax/g' $lesson >"$work/in/02_safe_softmax/safe_softmax.c"
    PART=passes grade "$work/in" 02
    got=$(column earned)
    sed 's/^ *tile_kind(a.p.*/TILE_FULL;/' 05_flash_tiled_cpu/steps/masks.c >"$work/in/05_flash_tiled_cpu/steps/masks.c"
    PART=masks grade "$work/in" 05
    got="$got $(column earned)"
    sed 's/kind == TILE_SKIPPED/!a.p/; s/kind == TILE_PARTIAL/kind != TILE_FULL/' 05_flash_tiled_cpu/steps/masks.c >"$work/in/05_flash_tiled_cpu/steps/masks.c"
    BUILDS='plain|counted' PART=masks grade "$work/in" 05
    if [ "$got $(column 'masks output') $(column 'masks counts')" = '0 0 4 0' ]; then pass; else fail "these earned $got; $(column 'masks output'), $(column 'masks counts')"; fi
fi
if is_wanted a_file_that_is_not_c; then
    mkdir -p "$work/in/01_standard_softmax"
    echo 'void standard_softmax(' >"$work/in/$lesson"
    cheat "$work/in" 'does not compile: standard_softmax.c:1'
fi
if is_wanted a_file_that_is_missing; then
    echo nothing >"$work/in/README"
    cheat "$work/in" 'standard_softmax.c: not in the submission'
fi
if is_wanted undefined_behaviour; then
    mkdir -p "$work/in/01_standard_softmax"
    { echo "$head_of"; echo 'void standard_softmax(const float *x, float *y, size_t n)
{ volatile float *z = malloc(4 * n); if (z[n] > 1e30f) puts(""); free((void *)z); right(x, y, n); }'; } >"$work/in/$lesson"
    grade "$work/in"
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'passes sanitizer')" = 0 ] &&
        report | grep -q heap-buffer-overflow; then pass; else fail 'expected a report of the sanitizer'; fi
fi
if is_wanted too_many_accesses; then
    mkdir -p "$work/in/01_standard_softmax"
    { echo "$head_of"; echo 'void standard_softmax(const float *x, float *y, size_t n) { right(x, y, n); y[0] += 0; }'; } >"$work/in/$lesson"
    grade "$work/in"
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'passes counts')" = 0 ] &&
        report | grep -q '95 loads and 50 stores, expected 90 and 45'; then pass; else fail 'expected counts to be wrong'; fi
fi
