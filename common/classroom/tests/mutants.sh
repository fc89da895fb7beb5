#!/bin/sh
# mutants.sh BUILD RESULT [TEST…] - wrong versions of the grader, each of which a test of grading.sh must reject; with
# names of tests only theirs.
#
# Each is an entry of mistakes.txt; "Needs: root" is for those that only root can tell. CC, FLAGS, OPENMP, the names of the files
# that grade is made of and what grading.sh wants are in the environment. Leaves "passed failed skipped" in RESULT.
build=$1 result=$2
shift 2
wanted=$*
. common/classroom/tests/shares.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
scripts=$work/course/common/classroom/grader
root=$([ "$(id -u)" -eq 0 ] && echo yes)

# A build folder that is the course's but for its grader.
copy_build() {
    rm -rf "$work/build"
    mkdir -p "$work/build/grader"
    for file in "$build"/*; do ln -s "$PWD/$file" "$work/build/"; done 2>/dev/null
    rm "$work/build/grader" 2>/dev/null
    mkdir -p "$work/build/grader"
    for file in "$build"/grader/*; do ln -s "$PWD/$file" "$work/build/grader/"; done
    # A student's file is compiled where the course's own folder, to which a link would lead, cannot be seen; and the verdicts
    # of a wrong version of the grader must not be kept.
    for own in headers versions; do
        rm -f "$work/build/grader/$own"
        cp -R "$build/grader/$own" "$work/build/grader/" 2>/dev/null
    done
}

mutant() {
    is_mine || return
    test=$(sed -n 's/^Caught by: //p' "$mistake") source=$(sed -n 's|^File: .*/||p' "$mistake")
    case " $wanted " in '  ' | *" $test "*) ;; *) return ;; esac
    if [ -z "$root" ] && grep -q '^Needs: root' "$mistake"; then
        skipped=$((skipped + 1))
        return
    fi
    rm -rf "$work/course"
    mkdir -p "$scripts"
    cp common/classroom/grader/*.sh "$scripts/"
    cp common/classroom/grader/*.[ch] "$scripts/"
    copy_build
    if grep -q '^[-+].*compile' "$mistake"; then rm -rf "$work/build/grader/versions"; fi  # made as they should be
    if ! awk -f common/tools/mistakes.awk apply "$work/course" "$mistake"; then
        failed=$((failed + 1))
        return
    fi
    case $source in
    confine.c)
        rm "$work/build/grader/confine"
        # shellcheck disable=SC2086
        $CC $FLAGS -w "$scripts/confine.c" -o "$work/build/grader/confine" || failed=$((failed + 1))
        ;;
    against.c)
        rm "$work/build/grader/against"
        # shellcheck disable=SC2086
        $CC $FLAGS -w -I. "$scripts/against.c" "$build/common.a" $OPENMP -lm -o "$work/build/grader/against" || failed=$((failed + 1))
        ;;
    *.c)
        rm "$work/build/grader/grade"
        others=$(for part in $PARTS_OF_GRADE; do [ "$part" = "${source%.c}" ] || echo "$build/obj/common/classroom/grader/$part.o"; done)
        # shellcheck disable=SC2086
        $CC $FLAGS -w -I. "$scripts/$source" $others "$build/common.a" $OPENMP -lm -o "$work/build/grader/grade" || failed=$((failed + 1))
        ;;
    esac
    if SHARE="" GRADING="$scripts" sh common/classroom/tests/grading.sh "$work/build" "$work/result" "$test" >"$work/said" 2>&1; then
        failed=$((failed + 1))
        echo "    $test does not notice ${mistake##*/}"
    else
        passed=$((passed + 1))
    fi
}

mkdir "$work/mistakes" && awk -f common/tools/mistakes.awk split "$work/mistakes" common/classroom/tests/mistakes.txt || exit 2
for mistake in "$work"/mistakes/*; do mutant; done

[ -n "$SHARE" ] || printf '%-32s %4d passed, %d failed, %d skipped\n' "$(basename "$result")" "$passed" "$failed" "$skipped"
mkdir -p "$(dirname "$result")"
echo "$passed $failed $skipped" >"$result"
[ "$failed" -eq 0 ]
