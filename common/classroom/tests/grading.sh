#!/bin/sh
# grading.sh BUILD RESULT [TEST…] - is the grader right, and can it be cheated? Without root's powers some of it
# holds less, or not at all (common/classroom/pages/grading.md), and the tests of that are skipped.
#
# Leaves "passed failed skipped" in RESULT. With names of tests only these are run. GRADING in the environment is
# the folder of the grader's scripts: a copy with a mistake in it (mutants.sh), or common/classroom/grader.
build=$1 result=$2
shift 2
wanted=$*
. common/classroom/tests/shares.sh
scripts=${GRADING:-common/classroom/grader}
lesson=01_standard_softmax/standard_softmax.c
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
course=$PWD
unset MAKEFLAGS MFLAGS  # those of the make that runs this
root=$([ "$(id -u)" -eq 0 ] && echo yes)

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    printf '    %s: %s\n' "$test" "$1"
    [ ! -f "$work/reports/report.txt" ] || sed 's/^/        /' "$work/reports/report.txt" | head -n 12
}
is_wanted() {
    is_mine || return 1
    test=$1
    rm -rf "$work/reports" "$work/in"
    mkdir -p "$work/in"
    case " $wanted " in '  ' | *" $test "*) return 0 ;; esac
    return 1
}

# Grades $1; what is earned in the columns of the row's names.
grade() {
    QUIET=1 sh "$scripts/grade.sh" "$build" "$1" "$work/reports" 12345 "${2:-01}" >"$work/said" 2>&1 </dev/null
}
column() { awk -F, -v name="$1" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) c = k } NR == 2 { print $c }' "$work/reports/row.csv"; }
report() { tr '\n' ' ' <"$work/reports/report.txt" | tr -s ' '; }

# A submission that earns nothing for its output, for a reason that the report tells.
cheat() {  # submission, words of the report
    grade "$1" "$3" || { fail "status $?: $(cat "$work/said")"; return; }
    if [ "$(column 'passes output')" != 0 ] || [ "$(column 'passes counts')" != 0 ] || [ "$(column 'passes sanitizer')" != 0 ]; then
        fail 'it earned points'
    elif ! report | grep -q "$2"; then
        fail "expected \"$2\" in the report"
    else
        pass
    fi
}
# The same for a source that stands on standard input.
cheat_source() {
    mkdir -p "$work/in/01_standard_softmax"
    sed "s|@COURSE@|$course|g" >"$work/in/$lesson"
    cheat "$work/in" "$1"
}
honest() {  # submission
    grade "$1" "$2" || { fail "status $?: $(cat "$work/said")"; return; }
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'passes counts')" = 1 ] && [ "$(column 'passes sanitizer')" = 1 ]; then
        pass
    else
        fail 'it did not earn all points'
    fi
}
# Runs a command, and interrupts it and all that it has started once is_there says so. What it said is in $work/said.
can_interrupt=$(command -v setsid)
interrupt() {  # command
    setsid "$@" >"$work/said" 2>&1 </dev/null &
    second=0
    until is_there || [ "$second" -gt 120 ]; do
        second=$((second + 1))
        sleep 1
    done
    kill -TERM -$!
    wait $! 2>/dev/null  # the shell would tell how it ended
}
# The head of a source, and a softmax that is right.
head_of='#include "01_standard_softmax/standard_softmax.h"
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void right(const float *x, float *y, size_t n)
{
    float l = 0.0f;
    for (size_t j = 0; j < n; j++)
        l += expf(x[j]);
    for (size_t j = 0; j < n; j++)
        y[j] = expf(x[j]) / l;
}
'

for about in outputs right tests cheating archives reports; do  # what takes longest first
    . common/classroom/tests/grading/$about.sh
done

# ---- without root --------------------------------------------------------------------------------

# The same by somebody who is not root: an honest solution, one that looks for other processes, and a starter that leaves, where its output
# should be, a link to what the chapter before has written; and a process that is left running ends with the program that
# started it.
if is_wanted not_root; then
    if [ -n "$root" ] && command -v setpriv >/dev/null; then
        mkdir -p "$work/in/a" "$work/in/b" "$work/in/reports"
        cp $lesson "$work/in/a/standard_softmax.c"
        { echo "$head_of"; echo 'int kill(int process, int signal);
void standard_softmax(const float *x, float *y, size_t n)
{ (void)x, (void)y, (void)n, (void)right; _exit(fork() >= 0 || kill(getppid(), 0) == 0 ? 7 : 9); }'; } >"$work/in/b/standard_softmax.c"
        mkdir -p "$work/in/c/03_online_softmax"
        { echo '#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
__attribute__((destructor)) static void end(void)
{ if (!fopen("second", "r")) fopen("second", "w"); else if (unlink("out/y.npy") == 0) (void)!symlink("../../before/y.npy", "out/y.npy"); }'
            sed -e '/BEGIN SOLUTION/,/END SOLUTION/d' -e 's|// STUB: ||' 03_online_softmax/online_softmax.c; } >"$work/in/c/03_online_softmax/online_softmax.c"
        chmod -R go+rX "$work"
        chown -R 65534 "$work/in/reports"
        mkdir "$work/in/tmp"
        chmod 777 "$work/in/tmp"
        for who in a b c; do
            QUIET=1 TMPDIR="$work/in/tmp" setpriv --reuid 65534 --clear-groups sh "$scripts/grade.sh" "$build" "$work/in/$who" \
                "$work/in/reports/$who" 5 "$([ $who = c ] && echo 03 || echo 01)" >"$work/said" 2>&1 </dev/null || cat "$work/said"
        done
        echo '#include <sys/prctl.h>
        #include <unistd.h>
        int main(void) { if (fork()) return 0 * sleep(1); setsid(); prctl(PR_SET_NAME, "an-orphan", 0, 0, 0); return fork() ? 0 : (int)sleep(60); }' >"$work/in/orphan.c"
        # shellcheck disable=SC2086  # a list of words
        $CC -w "$work/in/orphan.c" -o "$work/in/orphan"
        setpriv --reuid 65534 --clear-groups "$build/grader/confine" --tasks 999 -- "$work/in/orphan" >"$work/said"
        if ps -eo stat,comm | grep -v '^Z' | grep -q an-orphan; then fail 'something was left behind'; fi
        if grep -q '^"a",3,1,1' "$work/in/reports/a/row.csv" && grep -q '^"c",0,0,0' "$work/in/reports/c/row.csv" && grep -q 'it ended with status 9' "$work/in/reports/b/report.txt"; then
            pass
        else
            fail "$(cat "$work/said" "$work"/in/reports/*/report.txt | head -n 20)"
        fi
    else
        skipped=$((skipped + 1))
    fi
fi

[ -n "$SHARE" ] || printf '%-32s %4d passed, %d failed, %d skipped\n' "$(basename "$result")" "$passed" "$failed" "$skipped"
mkdir -p "$(dirname "$result")"
echo "$passed $failed $skipped" >"$result"
[ "$failed" -eq 0 ]
