#!/bin/sh
# mutant.sh CHAPTER PATCH RESULT FOLDER - proves that the tests of CHAPTER reject a wrong version.
#
# Copies the chapter to FOLDER, applies PATCH, builds the chapter's tests there, and demands that
# each test that the patch names in its "Caught by:" lines fails. Without a patch ("") it demands that
# none fails, so that a copy is not rejected for being a copy. CC, FLAGS, LIBS and what to link the
# tests (TOOLS) and the witness (WITNESS) with come from the Makefile. Leaves "passed failed skipped"
# in RESULT. With STUDENT set, a patch that does not fit a changed lesson is skipped.
chapter=$1 patch=$2 result=$3 folder=$4
copy=$folder/$chapter log=$folder/log
name=$(basename "$result")
export OMP_WAIT_POLICY=passive  # as in run_tests.sh
rm -rf "$folder"
mkdir -p "$folder" "$(dirname "$result")"

verdict() {  # status, text
    printf '%-48s %s\n' "$name" "$2"
    [ "$1" -eq 0 ] && echo "1 0 0" >"$result"
    [ "$1" -eq 0 ] || sed 's/^/    /' "$log" | tail -n 20
    exit "$1"
}

# Which of these tests fail, by the program's own word; of all its tests if none is named.
failing() {  # program, suite::test...
    program=$1
    shift
    limit=$(command -v timeout || command -v gtimeout) && limit="$limit 300"
    [ $# -gt 0 ] || set -- '*::*'
    for test; do
        # shellcheck disable=SC2086
        $limit "$program" --filter="${test%::*}/${test#*::}" --tap="$program.tap" >>"$log" 2>&1
        sed -n 's/^not ok - \([a-z0-9_]*::[a-z0-9_]*\).*/\1/p' "$program.tap"
        rm -f "$program.tap"
    done
}

rm -f "$result"
cp -R "$chapter" "$folder/"
named=''
if [ -n "$patch" ]; then
    named=$(sed -n 's/^Caught by: *//p' "$patch" | tr ',' ' ')
    [ -n "$named" ] || verdict 1 "names no test that catches it"
    if ! patch -s -p1 -d "$folder" <"$patch" >"$log" 2>&1; then
        [ -z "$STUDENT" ] || { echo "0 0 1" >"$result"; touch -t 200001010000 "$result"; exit 0; }
        verdict 1 "no longer applies"
    fi
fi

rm -f "$copy/tests/test_program.c"  # it looks at the built program, which is the right one
algorithm=$(find "$copy" -path "$copy/tests" -prune -o -name '*.c' -print | grep -v '/main\.c$')
FLAGS="$FLAGS -I$chapter -I$chapter/steps"  # where ../ leads to from a copy
# shellcheck disable=SC2086  # lists of words
$CC $FLAGS "$copy"/tests/test_*.c $algorithm $TOOLS -o "$folder/tests" $LIBS \
    >>"$log" 2>&1 || verdict 1 "no longer compiles"
of_witness=$(echo "$named" | tr ' ' '\n' | grep '^witness::')
of_tests=$(echo "$named" | tr ' ' '\n' | grep -v '^witness::')
# shellcheck disable=SC2086
[ -n "$patch" ] && [ -z "$of_tests" ] || failed=$(failing "$folder/tests" $of_tests)

case $patch/$of_witness in
/* | */witness::*)
    # shellcheck disable=SC2086
    {
        for file in $(echo "$algorithm" | grep -v '/counted\.c$'); do
            $CC $FLAGS $WITNESS_FLAGS -c "$file" -o "${file%.c}.o" || exit 1
        done
        $CC $FLAGS "$copy/tests/witness.c" "$copy/counted.c" $(find "$copy" -name '*.o') $WITNESS \
            -o "$folder/witness" $LIBS
    } >>"$log" 2>&1 || verdict 1 "no longer compiles with the witness"
    # shellcheck disable=SC2086
    failed="$failed $(failing "$folder/witness" $of_witness)"
    ;;
esac

if [ -z "$patch" ]; then
    if [ -n "$(echo $failed)" ]; then
        [ -z "$STUDENT" ] || exit 1  # the same tests have just failed, and said so
        verdict 1 "a copy of the chapter fails: $(echo $failed)"
    fi
    verdict 0 "a copy with nothing wrong in it is not rejected"
fi
for test in $named; do
    echo " $(echo $failed) " | grep -q " $test " || verdict 1 "SURVIVES $test; failed: ${failed:-nothing}"
done
verdict 0 "caught by $(echo $named)"
