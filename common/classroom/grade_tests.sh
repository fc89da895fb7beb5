#!/bin/sh
# grade_tests.sh submission SUBMISSION        - finds the tests in it, and asks make for what follows
# grade_tests.sh CHAPTER FILE                 - how many of the chapter's wrong versions the tests in FILE reject
# grade_tests.sh one CHAPTER FILE NAME        - for that: builds version NAME ("right": as it should be) and runs them
#
# SUBMISSION is a folder or an archive that has CHAPTER/tests/test_mine.c. Wrong versions that only the watched build can
# tell from the right one are left out. The tests run as whoever calls this: grade what you do not trust in a container.
# For the latter two the environment is that of common/tools/mutant.sh, from the Makefile.
build=${BUILD:-build}
work=$build/grade-tests

if [ "$1" = submission ]; then
    submission=$2
    bad() { echo "make grade-tests: SUBMISSION=$submission: $1" >&2; exit 2; }
    [ -n "$submission" ] || bad 'expected a folder or an archive that a starter made'
    [ -e "$submission" ] || bad 'there is no such file or folder'
    mkdir -p "$work" || exit 2
    for chapter in 0[1-7]_*; do
        file=$chapter/tests/test_mine.c
        case $submission in
        *.tar.gz | *.tgz) tar -xzOf "$submission" "$file" ;;
        *.zip) unzip -p "$submission" "$file" ;;
        *) if [ -f "$submission/$file" ] && [ ! -L "$submission/$file" ]; then cat "$submission/$file"; fi ;;
        esac >"$work/$chapter.c" 2>/dev/null
        if [ -s "$work/$chapter.c" ]; then
            exec make -s --no-print-directory QUIET=1 BUILD="$build" "grade-tests-${chapter%%_*}" MINE="$work/$chapter.c"
        fi
        rm -f "$work/$chapter.c"
    done
    bad 'expected a file 0N_…/tests/test_mine.c in it'
fi

if [ "$1" = one ]; then
    chapter=$2 mine=$3 name=$4
    folder=$work/$chapter/$name patch=$chapter/mutants/$name.patch
    mkdir -p "$folder"
    # The tool builds it; that none of its tests is asked for makes it stop there.
    if [ "$name" = right ]; then
        program=$work/$chapter/right/tests
        # shellcheck disable=SC2086
        $LINKER $TESTS -o "$program" $LIBS >"$folder/log" 2>&1
    else
        sed 's/^Caught by:.*/Caught by: mine::none/' "$patch" >"$folder.patch"
        WITNESS='' sh common/tools/mutant.sh "$chapter" "$folder.patch" "$folder.result" "$folder" >"$folder.said" 2>&1
        program=$folder/tests
    fi
    if [ ! -x "$program" ]; then
        echo "broken $name"
        cat "$folder/log" "$folder.said" >&2 2>/dev/null
        exit 0
    fi
    limit=$(command -v timeout || command -v gtimeout) && limit="$limit ${LIMIT:-100}"
    (cd "$folder" && $limit "./tests" --tap=tap >run.log 2>&1)
    status=$?
    passed=$(grep '^ok ' "$folder/tap" 2>/dev/null | grep -vc '# SKIP') failed=$(grep -c '^not ok ' "$folder/tap" 2>/dev/null)
    if [ "${failed:-0}" -eq 0 ] && [ "$status" -eq 0 ]; then echo "passes $name ${passed:-0}"; else echo "fails $name ${failed:-0}"; fi
    [ "$name" = right ] || rm -rf "$folder" "$folder.patch" "$folder.said"
    exit 0
fi

chapter=$1 mine=$2
here=$work/$chapter
rm -rf "$here"
mkdir -p "$here"
object=$here/test_mine.o
# shellcheck disable=SC2086
if ! $CC $FLAGS -I"$chapter/tests" -c "$mine" -o "$object" >"$here/log" 2>&1; then
    sed "s|$mine|$chapter/tests/test_mine.c|" "$here/log" | head -n 20
    echo 'The tests do not compile: 0 points.'
    exit 1
fi
TESTS="$object $TESTS"
export TESTS
right=$(sh "$0" one "$chapter" "$mine" right 2>&1)
case $right in
'passes right 0') echo 'There is no test in it: 0 points.'; exit 1 ;;
passes*) ;;
fails*)
    sed -n 's/^not ok - \([^ ]*\).*/    \1/p' "$here/right/tap" 2>/dev/null
    echo 'These tests reject the right version (or do not come to their end): 0 points.'
    exit 1 ;;
*) echo "$right"; exit 2 ;;
esac

for patch in "$chapter"/mutants/*.patch; do
    sed -n 's/^Caught by: *//p' "$patch" | tr ', ' '\n\n' | grep -v -e '^witness::' -e '^$' >/dev/null && basename "$patch" .patch
done | xargs -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -n 1 sh "$0" one "$chapter" "$mine" >"$here/verdicts" 2>"$here/errors"
if grep '^broken' "$here/verdicts"; then
    cat "$here/errors"
    exit 2
fi
rejected=$(grep -c '^fails' "$here/verdicts") all=$(wc -l <"$here/verdicts")
sed -n 's/^passes \([^ ]*\).*/\1/p' "$here/verdicts" | sort | while read -r name; do
    echo "    not rejected: $(sed -n 's/^Symptom: *//p' "$chapter/mutants/$name.patch")  ($name)"
done
points=$chapter/exercise.points
. common/classroom/exercise.sh
echo "The tests pass with the right version and reject $rejected of $((all)) wrong ones: $(exercise_lines |
    awk -v share="$rejected" -v all="$all" '$2 + 0 > 0 && $3 == "mutants" { printf "%.1f of %d points", $2 * share / all, $2 }')."
