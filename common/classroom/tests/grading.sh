#!/bin/sh
# grading.sh BUILD RESULT [TEST…] - is the grader right, and can it be cheated? Without root's powers some of it
# holds less, or not at all (common/classroom/grading.md), and the tests of that are skipped.
#
# Leaves "passed failed skipped" in RESULT. With names of tests only these are run. GRADING in the environment is
# the folder of the grader's scripts: a copy with a mistake in it (mutants.sh), or common/classroom.
build=$1 result=$2
shift 2
wanted=$*
. common/classroom/tests/shares.sh
scripts=${GRADING:-common/classroom}
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
# The head of a source, and a softmax that is right.
head_of='#include "standard_softmax.h"
#include "traffic.h"
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void right(const float *x, float *y, size_t n)
{
    float l = 0.0f;
    for (size_t j = 0; j < n; j++)
        l += expf(load(&x[j]));
    for (size_t j = 0; j < n; j++)
        store(&y[j], expf(load(&x[j])) / l);
}
'

# ---- what is right -------------------------------------------------------------------------------

if is_wanted right_in_a_folder; then
    mkdir -p "$work/in/01_standard_softmax"
    cp $lesson "$work/in/01_standard_softmax/"
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
    mkdir -p "$work/in/01_standard_softmax/tests" "$work/in/common/classroom"
    cp $lesson "$work/in/01_standard_softmax/"
    echo 'exit 1' >"$work/in/common/classroom/grade.sh"
    echo 'all: ; exit 1' >"$work/in/Makefile"
    echo '#error' >"$work/in/01_standard_softmax/standard_softmax.h"
    echo '#error' >"$work/in/01_standard_softmax/tests/test_standard_softmax.c"
    honest "$work/in"
fi
if is_wanted seed_repeats; then
    cp 01_standard_softmax/mutants/"$(ls 01_standard_softmax/mutants | head -n 1)" "$work/patch"
    mkdir -p "$work/in/01_standard_softmax"
    cp -R 01_standard_softmax/. "$work/in/01_standard_softmax/"
    patch -s -p1 -d "$work/in" <"$work/patch"
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
    grade "$work/in" 03
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'merge output')" = 3 ] && [ "$(column 'share output')" = 0 ] &&
        report | grep -q 'share, ordinary blocks: crashed it was ended by a segmentation fault'; then pass; else fail 'expected points for all but share'; fi
fi
if is_wanted an_endless_loop_costs_its_part; then
    mkdir -p "$work/in/03_online_softmax"
    cp 03_online_softmax/*.c "$work/in/03_online_softmax/"
    sed '/^float softmax_share/,/^}/s/{/{ for (volatile int k = 0; ; k = 1 - k) ;/' \
        03_online_softmax/softmax_state.c >"$work/in/03_online_softmax/softmax_state.c"
    grade "$work/in" 03
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'merge output')" = 3 ] && [ "$(column 'share output')" = 0 ] &&
        report | grep -q 'ordinary blocks: too slow it had not ended'; then pass; else fail 'expected points for all but share'; fi
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
    { echo "$head_of"; echo 'void standard_softmax(const float *x, float *y, size_t n) { right(x, y, n); store(y, load(y)); }'; } >"$work/in/$lesson"
    grade "$work/in"
    if [ "$(column 'passes output')" = 3 ] && [ "$(column 'passes counts')" = 0 ] &&
        report | grep -q '2580 loads and 1300 stores, expected 2560 and 1280'; then pass; else fail 'expected counts to be wrong'; fi
fi

# ---- cheating ------------------------------------------------------------------------------------

if is_wanted hard_coded_outputs; then
    cheat_source 'wrong' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    static const float worked[] = { 0.0900f, 0.6652f, 0.2447f };
    (void)x, (void)right;
    for (size_t j = 0; j < n; j++)
        y[j] = worked[j % 3];
}
END
fi
if is_wanted the_mean_of_all; then
    cheat_source 'wrong' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    (void)right;
    for (size_t j = 0; j < n && n > 1; j++)
        y[j] = 1.0f / (float)n + 0.0f * x[j];
}
END
fi
if is_wanted exit_0; then
    cheat_source 'it ended by itself and has written no output' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n) { (void)x, (void)y, (void)n, (void)right; exit(0); }
END
fi
if is_wanted forged_lines; then
    cheat_source 'it ended by itself and has written no output' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    (void)x, (void)y, (void)n, (void)right;
    puts("passes, output: 3 of 3 points, 7 of 7 right\nexited 0\n[====] Synthesis: Tested: 9 | Passing: 9");
    fputs("exited 0\n{ \"score\": 100 }\n", stderr);
    fflush(NULL);
    _exit(0);
}
END
fi
if is_wanted calls_the_reference; then
    cheat_source 'undefined reference to' <<END
$head_of
void reference_softmax(const float *x, double *y, size_t rows, size_t cols);
void standard_softmax(const float *x, float *y, size_t n)
{
    double *z = malloc(n * sizeof *z);
    (void)right;
    reference_softmax(x, z, 1, n);
    for (size_t j = 0; j < n; j++)
        y[j] = (float)z[j];
}
END
fi
if is_wanted calls_another_chapter; then
    cheat_source 'undefined reference to' <<END
void safe_softmax(const float *x, float *y, unsigned long n);
void standard_softmax(const float *x, float *y, unsigned long n);
void standard_softmax(const float *x, float *y, unsigned long n) { safe_softmax(x, y, n); }
END
fi
if is_wanted includes_the_solution; then
    cheat_source 'does not compile\|it includes' <<END
#include "@COURSE@/01_standard_softmax/standard_softmax.c"
END
fi
if is_wanted includes_another_chapter; then
    cheat_source 'does not compile\|it includes' <<END
#define standard_softmax safe_softmax
#include "../02_safe_softmax/safe_softmax.c"
END
fi
if is_wanted includes_what_is_not_the_chapters; then  # of what anybody may read
    cp $lesson "$work/solution.c"
    chmod 755 "$work"
    chmod 644 "$work/solution.c"
    cheat_source 'it includes solution.c' <<END
#include "$work/solution.c"
END
fi
if is_wanted reads_the_solution; then
    # if anything can be read, its output is right
    cheat_source wrong <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    static const char *const paths[] = { "@COURSE@/$lesson", "../../before/y.npy", "../before/y.npy", "/before/y.npy",
        "@COURSE@/common/data/scores.npy", "/etc/passwd", "/proc/self/status", "/tmp", "../out/../../verdict" };
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        if (fopen(paths[k], "r"))
            right(x, y, n);
}
END
fi
if is_wanted copies_a_binary; then
    mkdir -p "$work/in/01_standard_softmax" "$work/in/build"
    cp "$build/01_standard_softmax" "$work/in/build/"
    head -c 150000 "$build/01_standard_softmax" >"$work/in/$lesson"
    cheat "$work/in" 'does not compile\|it has asm'
fi
if is_wanted brings_in_bytes; then
    cheat_source 'it has asm' <<END
__as\\
m__(".incbin \"@COURSE@/build/01_standard_softmax\"");
END
fi
if is_wanted huge_allocation; then
    cheat_source 'crashed' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    volatile char *memory = malloc((size_t)2 << 30);
    for (size_t k = 0; k < (size_t)2 << 30; k += 4096)
        memory[k] = 1;
    right(x, y, n);
}
END
fi
if is_wanted fork_bomb; then
    # bounded, in case that nothing stops it: 3 rounds, and status 7 says that it could fork
    cheat_source 'it ended with status 9' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    (void)x, (void)y, (void)n, (void)right;
    int forked = 0;
    for (int k = 0; k < 3; k++)
        forked += fork() >= 0;
    _exit(forked ? 7 : 9);
}
END
fi
if is_wanted writes_outside; then
    rm -f /tmp/was-here "$course/was-here"
    cheat_source 'it ended with status 9' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    static const char *const paths[] = { "/tmp/was-here", "@COURSE@/was-here", "../was-here", "was-here", "../verdict",
        "in/x.npy", "bin/was-here", "out/was-here", "lib/was-here", "/was-here" };
    (void)x, (void)y, (void)n, (void)right;
    int opened = 0;
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        opened += fopen(paths[k], "w") != NULL;
    _exit(opened ? 7 : 9);
}
END
fi
if is_wanted fills_the_disk; then
    cheat_source 'a file that grew too large' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    (void)x, (void)y, (void)n, (void)right;
    FILE *file = fopen("out/y.npy", "r+");
    static char megabyte[1 << 20];
    for (int k = 0; k < 40; k++)
        fwrite(megabyte, 1, sizeof megabyte, file);
    _exit(0);
}
END
fi
if is_wanted kills_the_grader; then
    cheat_source 'ended by\|it ended with status 9' <<END
$head_of
#include <signal.h>
int kill(int process, int signal);
void standard_softmax(const float *x, float *y, size_t n)
{
    (void)x, (void)y, (void)n, (void)right;
    kill(getppid(), 9);
    kill(-1, 9);
    _exit(9);
}
END
fi
if is_wanted asks_the_network; then
    if unshare -n true 2>/dev/null; then
        cheat_source wrong <<END
$head_of
#include <arpa/inet.h>
#include <sys/socket.h>
void standard_softmax(const float *x, float *y, size_t n)
{
    struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = 13568, .sin_addr = { 0x010200c0 } };
    const int link = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(link, (struct sockaddr *)&there, sizeof there) == 0)
        right(x, y, n);
}
END
    else
        skipped=$((skipped + 1))
    fi
fi

# ---- archives and folders ------------------------------------------------------------------------

if is_wanted link_in_a_folder; then
    mkdir -p "$work/in/01_standard_softmax"
    ln -s "$course/$lesson" "$work/in/$lesson"
    cheat "$work/in" 'it has a link'
fi
if is_wanted linked_folder; then
    ln -s "$course/01_standard_softmax" "$work/in/01_standard_softmax"
    cheat "$work/in" 'it has a link'
fi
if is_wanted link_in_a_tar; then
    mkdir -p "$work/in/01_standard_softmax"
    ln -s "$course/$lesson" "$work/in/$lesson"
    (cd "$work/in" && tar -czf a.tar.gz 01_standard_softmax)
    cheat "$work/in/a.tar.gz" 'it has a link'
fi
if is_wanted link_in_a_zip; then
    if command -v zip >/dev/null && command -v unzip >/dev/null; then
        ln -s "$course/$lesson" "$work/in/standard_softmax.c"
        (cd "$work/in" && zip -q -y a.zip standard_softmax.c)
        cheat "$work/in/a.zip" 'it has a link'
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted names_that_lead_out; then
    mkdir -p "$work/in/deep"
    cp $lesson "$work/in/standard_softmax.c"
    (cd "$work/in/deep" && tar -cPf ../a.tar ../standard_softmax.c)
    cheat "$work/in/a.tar" 'a name that leads out'
fi
# tar would take such a name for an option, and run what it says at every tenth record.
if is_wanted names_that_are_options; then
    name="--checkpoint-action=exec=touch $work/was-here; true "
    mkdir -p "$work/in/$name/01_standard_softmax"
    cp $lesson "$work/in/$name/01_standard_softmax/"
    head -c 300000 /dev/zero >"$work/in/records"
    (cd "$work/in" && tar -cf a.tar -- records "$name")
    cheat "$work/in/a.tar" 'a name that leads out'
    [ ! -e "$work/was-here" ] || fail 'a command in a name was run'
fi
if is_wanted absolute_names; then
    cp $lesson "$work/in/standard_softmax.c"
    tar -cPf "$work/in/a.tar" "$work/in/standard_softmax.c"
    cheat "$work/in/a.tar" 'a name that leads out'
fi
if is_wanted twice; then
    mkdir -p "$work/in/a" "$work/in/b"
    cp $lesson "$work/in/a/"
    cp $lesson "$work/in/b/"
    cheat "$work/in" 'it is there more than once'
fi
if is_wanted no_archive; then
    echo nothing >"$work/in/a.tar.gz"
    cheat "$work/in/a.tar.gz" 'the archive cannot be read'
fi
if is_wanted larger_than_allowed; then
    head -c 6000000 /dev/zero >"$work/in/a.tar"
    cheat "$work/in/a.tar" 'the archive is larger'
fi
if is_wanted swells; then  # a source of 50 MB that was packed to 50 kB
    head -c 50000000 /dev/zero | tr '\0' ' ' >"$work/in/standard_softmax.c"
    (cd "$work/in" && tar -czf a.tar.gz standard_softmax.c)
    rm "$work/in/standard_softmax.c"
    cheat "$work/in/a.tar.gz" 'it is larger than'
fi

# ---- tests that are graded -----------------------------------------------------------------------

# What `make grade-tests` says at last of the tests on standard input. Here a process of theirs has 2 seconds.
graded_tests() {
    mkdir -p "$work/in/01_standard_softmax/tests"
    cat - >"$work/in/01_standard_softmax/tests/test_mine.c"
    LIMIT=2 make -s --no-print-directory grade-tests BUILD="$build" GRADING="$GRADING" SUBMISSION="$work/in" >"$work/said" 2>&1
    grep -v '^make.*\*\*\*' "$work/said" | tail -n 1
}
expect_of_tests() {  # words of what is said, what is said
    case $2 in *"$1"*) pass ;; *) fail "expected \"$1\": $(cat "$work/said")" ;; esac
}
reject_right='reject the right version (or do not come to their end)'
test_head='#include "../standard_softmax.h"
#include "test.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int kill(int process, int signal);
'
if [ -n "$root" ] && [ "$(uname)" = Linux ]; then
    # Bounded, in case that nothing stops them. What was started must not be there any more.
    if is_wanted tests_that_fork; then
        said=$(graded_tests <<END
$test_head
TEST(mine, can_fork_as_often_as_they_like)
{
    int forked = 0;
    for (int k = 0; k < 600; k++) {
        const int child = fork();
        if (child == 0) {
            prctl(PR_SET_NAME, "left-behind", 0, 0, 0);
            for (int s = 0; s < 60; s++)
                sleep(1);
            _exit(0);
        }
        forked += child > 0;
    }
    cr_assert(forked == 600);
}
END
        )
        sleep 2  # what was ended is gone then
        if ps -eo stat,comm 2>/dev/null | grep -v '^Z' | grep -q left-behind; then fail 'something was left behind'; else expect_of_tests "$reject_right" "$said"; fi
    fi
    if is_wanted tests_that_write_outside; then
        rm -f /tmp/was-here "$course/was-here"
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
TEST(mine, can_write_somewhere)
{
    static const char *const paths[] = { "$course/was-here", "was-here", "../was-here", "../../verdict", "/was-here", "/lib/was-here",
        "/proc/1/mem", "tests" };
    int opened = 0;
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
        opened += fopen(paths[k], "w") != NULL;
    FILE *file = fopen("/tmp/was-here", "w");
    cr_assert(opened || !file);
}
END
        )"
        [ ! -e /tmp/was-here ] || fail 'it has written to /tmp'
    fi
    # The first run is of the right version. Whoever could count them would reject all the others.
    if is_wanted tests_that_count_their_runs; then
        expect_of_tests 'reject 0 of 4 wrong ones' "$(graded_tests <<END
$test_head
TEST(mine, have_never_been_here)
{
    static const char *const paths[] = { "/tmp/seen", "/dev/shm/seen", "seen", "tap", "/var/tmp/seen" };
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        FILE *file = strcmp(paths[k], "tap") == 0 ? NULL : fopen(paths[k], "r");
        cr_assert(!file);
        file = fopen(paths[k], "a");
        if (file)
            fclose(file);
    }
}
END
        )"
    fi
    if is_wanted tests_that_read_the_course; then
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
TEST(mine, can_see_what_they_are_tried_on)
{
    cr_assert(fopen("$course/01_standard_softmax/standard_softmax.c", "r") || fopen("/etc/passwd", "r") || fopen("$course/Makefile", "r"));
}
END
        )"
    fi
    if is_wanted tests_that_include_the_solution; then
        expect_of_tests 'The tests do not compile' "$(graded_tests <<END
$test_head
#include "$course/01_standard_softmax/standard_softmax.c"
TEST(mine, nothing) { }
END
        )"
    fi
    if is_wanted tests_that_take_all_memory; then
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
TEST(mine, can_have_three_gigabytes)
{
    char *memory = malloc((size_t)3 << 30);
    cr_assert(memory != NULL);
}
END
        )"
    fi
    if is_wanted tests_that_kill; then
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
TEST(mine, end_everything)
{
    kill(getppid(), 9);
    kill(-1, 9);
}
END
        )"
    fi
elif [ "${SHARE:-0}" -eq 0 ]; then
    skipped=$((skipped + 7))
fi
if is_wanted tests_that_never_end; then
    expect_of_tests "$reject_right" "$(graded_tests <<END
#include "test.h"
Test(mine, never_ends)
{
    for (volatile int k = 0;; k = 1 - k)
        ;
}
END
    )"
fi
# However they are packed: all are handed to make as they are in the course's own folder.
if is_wanted tests_in_archives; then
    wrong=''
    packed() {  # name, words: what is said of it begins like that
        said=$(sh "$scripts/grade_tests.sh" submission "$work/in/$1" 2>&1 | head -n 1)
        case $said in "$2"*) ;; *) wrong="$wrong; $1: $said" ;; esac
    }
    mkdir -p "$work/in/ann/01_standard_softmax/tests" "$work/in/bob" "$work/in/cyd"
    printf '#include "test.h"\nTEST(mine, nothing_is_right)\n{\n    cr_assert(0);\n}\n' >"$work/in/ann/01_standard_softmax/tests/test_mine.c"
    (cd "$work/in/ann" && tar -czf ../a.tar.gz . && tar -cf ../b.tar 01_standard_softmax && cp ../a.tar.gz ../bob/submission.tar.gz)
    (cd "$work/in" && tar -czf c.tgz ann && cp -R ann cyd/ && cp -R ann cyd/bob)
    for name in a.tar.gz b.tar c.tgz bob; do packed $name '    mine::nothing_is_right'; done
    if command -v zip >/dev/null && command -v unzip >/dev/null; then
        (cd "$work/in" && zip -qr d.zip ann)
        packed d.zip '    mine::nothing_is_right'
    fi
    packed cyd "make grade-tests: SUBMISSION=$work/in/cyd: 01_standard_softmax/tests/test_mine.c is there more than once"
    (cd "$work/in" && mkdir empty && tar -cf e.tar empty)
    packed e.tar "make grade-tests: SUBMISSION=$work/in/e.tar: expected a file 0N_"
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi
# Of a class: tests to begin with, none, some that reject all, and no submission at all.
if is_wanted tests_of_a_class; then
    test_of() { mkdir -p "$work/in/class/$1/01_standard_softmax/tests" && cat - >"$work/in/class/$1/01_standard_softmax/tests/test_mine.c"; }
    test_of ann <01_standard_softmax/tests/mine.c
    test_of '=bob, "the" 2nd' </dev/null
    printf '#include "test.h"\nTEST(mine, nothing_is_right)\n{\n    cr_assert(0);\n}\n' | test_of cyd
    echo nothing >"$work/in/class/notes.txt"
    sh "$scripts/grade_tests_all.sh" "$work/in/class" 01 "$work/in/reports" >"$work/said" 2>&1
    all=$(awk '$3 == "mutants" { print $2 }' 01_standard_softmax/exercise.points)
    half=$(awk -v all="$all" 'BEGIN { printf "%.1f", all / 2 }')
    rows=$work/in/reports/tests.csv
    if grep -qx "\"ann\",2,4,$half,$all,\"\"" "$rows" && grep -q "^\"'=bob, \"\"the\"\" 2nd\",,,0.0,$all,\".*0 points" "$rows" &&
        grep -q "^\"cyd\",,,0.0,$all,\"These tests reject the right version" "$rows" &&
        grep -q "^\"notes.txt\",,,0.0,$all,\".*expected a file 01_standard_softmax/tests/test_mine.c" "$rows" &&
        [ "$(grep -c . "$rows")" -eq 5 ] && grep -q 'mine::nothing_is_right' "$work/in/reports/submissions/cyd" &&
        grep -q '4 graded' "$work/said"; then pass; else fail "$(cat "$work/said" "$rows")"; fi
fi
if is_wanted tests_that_are_too_long; then
    mkdir -p "$work/in/01_standard_softmax/tests"
    head -c 300000 /dev/zero | tr '\0' ' ' >"$work/long"
    expect_of_tests 'expected at most 200000 bytes' "$(graded_tests <"$work/long")"
fi

# ---- reports, a class, bad arguments -------------------------------------------------------------

if is_wanted reports_are_as_published; then
    mkdir -p "$work/in/01_standard_softmax"
    { echo "$head_of"; echo 'void standard_softmax(const float *x, float *y, size_t n) { right(x, y, n); y[n - 1] = 0.0f / 0.0f; }'; } >"$work/in/$lesson"
    mv "$work/in" "$work/\"quoted\" \\ name"
    grade "$work/\"quoted\" \\ name"
    wrong=''
    for kind in report gradescope classroom50; do
        "$build/grader/valid" "common/classroom/schemas/$kind.json" "$work/reports/$kind.json" >"$work/said" || wrong="$wrong $kind: $(cat "$work/said")"
    done
    # a validator that finds nothing is none
    for spoilt in 's/"score": 0/"score": -1/' 's/"max-score"/"max_score"/' 's/"datetime": "2/"datetime": "x/' 's/"submit\/none"/"none"/' 's/"tests": \[/"tests": 1, "others": [/'; do
        sed "$spoilt" "$work/reports/classroom50.json" >"$work/spoilt.json"
        "$build/grader/valid" common/classroom/schemas/classroom50.json "$work/spoilt.json" >/dev/null 2>&1 && wrong="$wrong; valid although $spoilt"
    done
    for spoilt in 's/"status": "failed"/"status": "bad"/' 's/"visible"/"seen"/' 's/"score"/"scores"/'; do
        sed "$spoilt" "$work/reports/gradescope.json" >"$work/spoilt.json"
        "$build/grader/valid" common/classroom/schemas/gradescope.json "$work/spoilt.json" >/dev/null 2>&1 && wrong="$wrong; valid although $spoilt"
    done
    if [ -z "$wrong" ] && grep -q '"got": "NaN"' "$work/reports/report.json"; then pass; else fail "$wrong"; fi
    rm -rf "$work/\"quoted\" \\ name"
fi
if is_wanted a_class; then
    mkdir -p "$work/in/class/ann/01_standard_softmax" "$work/in/class/bob" "$work/in/class/=cyd, \"the\" 3rd"
    cp $lesson "$work/in/class/ann/01_standard_softmax/"
    printf 'chapter 01_standard_softmax\nseed 17\n' >"$work/in/class/ann/STARTER"
    echo '#include "standard_softmax.h"
void standard_softmax(const float *x, float *y, size_t n) { (void)x, (void)y, (void)n; }' >"$work/in/class/bob/standard_softmax.c"
    echo nothing >"$work/in/class/notes.txt"
    sh "$scripts/grade_all.sh" "$build" "$work/in/class" "$work/in/reports" 7 01 >"$work/said" 2>&1
    sed 's/,7,/,SEED,/' "$work/in/reports/grades.csv" >"$work/rows"
    if grep -q '^"ann",3,1,1,0,5,9,SEED,17,""$' "$work/rows" && [ -s "$work/in/reports/submissions/ann/report.txt" ] && grep -q '^"bob",0,0,0,' "$work/rows" && grep -q '^"notes.txt",0,0,0,' "$work/rows" &&
        grep -q "^\"'=cyd, \"\"the\"\" 3rd\"" "$work/rows" && [ "$(grep -c . "$work/in/reports/grades.csv")" -eq 5 ] &&
        grep -q '4 of 4 graded with seed 7' "$work/said"; then pass; else fail "$(cat "$work/said" "$work/in/reports/grades.csv")"; fi
fi
# The right numbers are those of STARTER's seed; what is right is not told.
if is_wanted numbers_by_the_seed; then
    of_seed() {  # seed of the answers, seed of STARTER -> points
        printf 'chapter 01_standard_softmax\nseed %s\n' "$2" >"$work/in/STARTER"
        sh common/classroom/numbers.sh 01_standard_softmax/exercise.numbers "$1" | sed -n 's/^answer \([0-9]*\) \([a-z0-9]*\) [^ ]* /\1.\2 = /p' >"$work/in/answers.txt"
        PART=questions grade "$work/in"
        column 'questions numbers'
    }
    said="$(of_seed 17 17) $(of_seed 0 0) $(of_seed 0 17)"
    if [ "$said" = '4 4 1' ] && [ "$(column variant)" = 17 ] && report | grep -q 'questions as SEED=17 has them' &&
        report | grep -q 'WRONG answers.txt, 0.l: wrong got 30.19' && ! report | grep -q expected; then pass; else fail "it earned $said"; fi
fi
# The course of a bundle, with what is built here, so that it need not be built again.
with_build() {
    mkdir -p "$1/build/sanitized"
    cp -Rp "$build/obj" "$build/grader" "$build"/*.a "$1/build/"
    cp -Rp "$build/sanitized/obj" "$1/build/sanitized/"
}
if is_wanted gradescope_takes_it; then
    if command -v zip >/dev/null && command -v unzip >/dev/null && [ -z "$GRADING" ]; then
        make -s gradescope CHAPTER=01 OUT="$work/in/a.zip" SEED=4 >/dev/null
        mkdir -p "$work/in/autograder/source" "$work/in/autograder/submission"
        unzip -q "$work/in/a.zip" -d "$work/in/autograder/source"
        with_build "$work/in/autograder/source/course"
        cp $lesson "$work/in/autograder/submission/"
        AUTOGRADER=$work/in/autograder bash "$work/in/autograder/source/setup.sh" >"$work/said" 2>&1
        AUTOGRADER=$work/in/autograder "$work/in/autograder/source/run_autograder" >>"$work/said" 2>&1
        results=$work/in/autograder/results/results.json
        if "$build/grader/valid" common/classroom/schemas/gradescope.json "$results" >>"$work/said" &&
            grep -q '"score": 5' "$results" && unzip -Z1 "$work/in/a.zip" | grep -q '^setup.sh$' &&
            unzip -Z1 "$work/in/a.zip" | grep -q '^run_autograder$'; then pass; else fail "$(tail -n 5 "$work/said")"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted classroom50_takes_it; then
    if command -v python3 >/dev/null && [ -z "$GRADING" ]; then
        make -s classroom50 CHAPTER=01 OUT="$work/in/bundle" SEED=4 >/dev/null
        with_build "$work/in/bundle/course"
        mkdir -p "$work/in/checkout/01_standard_softmax"
        cp $lesson "$work/in/checkout/01_standard_softmax/"
        (cd "$work/in/checkout" && CLASSROOM=cs1 ASSIGNMENT=one ASSIGNMENT_TYPE=individual OWNER=ann \
            SUBMISSION_TAG=submit/2026-06-01T14-32-05Z-a1b2c3d COMMIT_URL=https://host/commit/1 \
            RELEASE_URL=https://host/release REVIEW_URL=https://host/review python3 "$work/in/bundle/autograder.py") >"$work/said" 2>&1
        made=$work/in/checkout/result.json
        if "$build/grader/valid" common/classroom/schemas/classroom50.json "$made" >>"$work/said" &&
            grep -q '"score": 5' "$made" && grep -q '"owner": "ann"' "$made" && grep -q '"classroom": "cs1"' "$made" &&
            grep -q "submit/2026-06-01T14-32-05Z-a1b2c3d" "$made"; then pass; else fail "$(tail -n 5 "$work/said")"; fi
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted bad_arguments; then
    wrong=''
    refuses() {  # words, arguments of grade.sh
        expected=$1
        shift
        said=$(sh "$scripts/grade.sh" "$build" "$@" 2>&1 >/dev/null </dev/null)
        [ $? -eq 2 ] || wrong="$wrong; status of '$*'"
        echo "$said" | grep -q "$expected" || wrong="$wrong; '$*' said: $said"
        [ "$(echo "$said" | grep -c .)" -eq 1 ] || wrong="$wrong; '$*' said more than a line"
    }
    mkdir -p "$work/in/empty"
    refuses 'SUBMISSION: expected a folder or an archive' ''
    refuses 'nowhere: expected a folder or an archive, found nothing' "$work/nowhere"
    refuses 'SEED: expected a whole number' "$work/in/empty" "$work/r" x1 01
    refuses 'CHAPTER: expected the chapter' "$work/in/empty" "$work/r" 1
    refuses 'CHAPTER: expected the chapter' "$work/in/empty" "$work/r" 1 09
    PART=passes,mirge refuses "PART: expected some of passes tests questions, with commas between, found 'mirge'" "$work/in/empty" "$work/r" 1 01
    PART='passes *' refuses "PART: expected some of passes tests questions" "$work/in/empty" "$work/r" 1 01
    [ ! -e "$work/r" ] || wrong="$wrong; something was written"
    for of in 'CHAPTER=8' 'CHAPTER=01 PART=mirge' 'CHAPTER=01 SEED=x' 'CHAPTER=01 OUT='; do
        # shellcheck disable=SC2086
        said=$(make -s classroom50 OUT="$work/bundle" $of 2>&1) && wrong="$wrong; a bundle of $of"
        echo "$said" | grep -q '^classroom50: [A-Z]*: expected' || wrong="$wrong; of a bundle of $of it said: $said"
    done
    [ ! -e "$work/bundle" ] || wrong="$wrong; a bundle was written"
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi

# ---- wrong versions and other people's outputs -----------------------------------------------------

# The course's wrong versions of chapter 03, as far as their outputs or their counts are wrong.
if is_wanted wrong_versions_lose_points; then
    wrong='' tried=0
    for patch in 03_online_softmax/mutants/*.patch; do
        # one that only the witness sees is right, and counts right; a header is not a student's
        sed -n 's/^Caught by: *//p' "$patch" | tr ',' '\n' | grep -qv ' *witness' || continue
        grep -q '^+++ .*\.c$' "$patch" || continue
        rm -rf "$work/in/03_online_softmax"
        cp -R 03_online_softmax "$work/in/"
        patch -s -p1 -d "$work/in" <"$patch"
        PART=passes,merge,share grade "$work/in" 03
        [ "$(column earned)" -lt "$(column points)" ] || wrong="$wrong $(basename "$patch")"
        tried=$((tried + 1))
    done
    if [ -z "$wrong" ] && [ "$tried" -gt 8 ]; then pass; else fail "of $tried these earn all points:$wrong"; fi
fi

# Chapter 06: its files as they are, and a file of each part with a mistake in it, the last as the starter has it.
kernels() { mkdir -p "$work/in/06_flash_tiled_cuda/kernels" && cp 06_flash_tiled_cuda/kernels/*.cu* "$work/in/06_flash_tiled_cuda/kernels/"; }
earned() { for of in 'fa1 output' 'fa1 sanitizer' 'warp output' 'warp sanitizer' 'fragments output' 'fragments sanitizer' 'swizzle counts'; do column "$of"; done | tr '\n' ' '; }
if is_wanted kernels_that_are_right; then
    kernels
    PART=fa1,warp,fragments,swizzle grade "$work/in" 06
    if [ "$(earned)" = '7 1 7 1 7 1 4 ' ]; then pass; else fail "it earned $(earned)"; fi
fi
if is_wanted kernels_that_are_wrong; then
    kernels
    (cd "$work/in/06_flash_tiled_cuda/kernels" &&
        sed -i.before 's/fast->keep\[r\] = old \/ divisor/fast->keep[r] = old/' fa1.cu &&
        sed -i.before 's/step < KEYS; step \*= 2/step < KEYS \/ 2; step *= 2/' registers.cuh &&
        sed -i.before '/BEGIN SOLUTION/,/END SOLUTION/d' swizzle.cuh && sed -i.before 's|// STUB: ||' swizzle.cuh)
    patch -s -p1 -d "$work/in" <06_flash_tiled_cuda/mutants/packed_the_other_way_round.patch
    PART=fa1,warp,fragments,swizzle grade "$work/in" 06
    wrong=''
    for of in fa1 warp fragments; do [ "$(column "$of output")" -lt 4 ] && [ "$(column "$of sanitizer")" -eq 0 ] || wrong="$wrong $of"; done
    [ "$(column 'swizzle counts')" -eq 0 ] || wrong="$wrong swizzle"
    if [ -z "$wrong" ] && report | grep -q 'cycles of shared memory where'; then pass; else fail "these earned points:$wrong"; fi
fi
# One that includes the course's own, and one that is quick and wrong: few cycles of shared memory, and not the output.
if is_wanted kernels_that_cheat; then
    mkdir -p "$work/in/06_flash_tiled_cuda/kernels"
    echo "#include \"$course/06_flash_tiled_cuda/kernels/fa1.cu\"" >"$work/in/06_flash_tiled_cuda/kernels/fa1.cu"
    sed 's/return r \* SHAPE::ROW + (c ^ turn);/return (void)turn, c;/' 06_flash_tiled_cuda/kernels/swizzle.cuh >"$work/in/06_flash_tiled_cuda/kernels/swizzle.cuh"
    PART=fa1,swizzle grade "$work/in" 06
    if [ "$(column 'fa1 output')" = 0 ] && [ "$(column 'swizzle counts')" = 0 ] && report | grep -q 'does not compile\|it includes' &&
        report | grep -q 'swizzle, tiles .* wrong O at b, h, i, c'; then pass; else fail 'it earned points, or it is not said why'; fi
fi

if is_wanted check_against; then
    wrong=''
    against() {  # status, words, stage
        sh "$scripts/check_against.sh" "$build" "$work/in" "$3" >"$work/said" 2>&1
        status=$?
        [ $status -eq "$1" ] || wrong="$wrong; stage $3: status $status, expected $1: $(cat "$work/said")"
        grep -q -- "$2" "$work/said" || wrong="$wrong; stage $3: expected '$2' in: $(cat "$work/said")"
        [ "$1" -ne 2 ] || [ "$(grep -c . "$work/said")" -eq 1 ] || wrong="$wrong; stage $3: expected one line: $(cat "$work/said")"
    }
    against 2 'x.npy: expected the input' 03
    against 2 'STAGE: expected 01 to 07' 8
    cp common/data/scores.npy "$work/in/x.npy"
    against 2 'expected an output: y.npy' 03
    "$build/01_standard_softmax" --quiet --input "$work/in/x.npy" --output "$work/in/y.npy" >/dev/null
    against 0 '^y .* ok' 01
    cp "$work/in/x.npy" "$work/in/y.npy"
    against 1 'the first is at row, column = 0, 0: yours' 01
    cp common/data/key_mask.npy "$work/in/y.npy"
    against 2 'y.npy: expected numbers of shape (164, 164), found (2, 164)' 01
    for name in q k v; do cp "common/data/$name.npy" "$work/in/"; done
    "$build/04_flash_no_tiling" --q "$work/in/q.npy" --k "$work/in/k.npy" --v "$work/in/v.npy" --causal --quiet \
        --output "$work/in/o.npy" --lse "$work/in/lse.npy" >/dev/null
    against 1 '^lse .*WRONG' 04
    echo '--causal' >"$work/in/options.txt"
    against 0 '^lse .* ok' 04
    echo '--scale x' >"$work/in/options.txt"
    against 2 'scale' 04
    echo '--causal' >"$work/in/options.txt"
    cp "$work/in/q.npy" "$work/in/do.npy"
    "$build/07_backward" --q "$work/in/q.npy" --k "$work/in/k.npy" --v "$work/in/v.npy" --do "$work/in/do.npy" --causal --quiet \
        --dq "$work/in/dq.npy" --dk "$work/in/dk.npy" --dv "$work/in/dv.npy" >/dev/null
    against 0 '^dv .* ok' 07
    cp "$work/in/dq.npy" "$work/in/dk.npy"
    against 1 '^dk .*WRONG' 07
    head -c 1000 "$work/in/dv.npy" >"$work/dv.npy" && cp "$work/dv.npy" "$work/in/dv.npy"
    against 2 'dv.npy: ' 07
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi

# The page's own lines, by a Python that has NumPy, and the same with scores that are not scaled.
if is_wanted numpy_as_the_page_says; then
    python=$(BUILD=$build; . common/python/find.sh; echo "$python")
    case $python in /* | python3 | '') ;; *) python=$PWD/$python ;; esac
    if [ -n "$python" ]; then
        wrong=''
        sed -n '/^## From NumPy/,/^## From PyTorch/p' common/classroom/check_against.md | sed -n '/^```python/,/^```$/p' | sed '/^```/d' >"$work/in/page.py"
        sed 's| / np.float32(4)||' "$work/in/page.py" >"$work/in/wrong.py"
        for of in page:0:ok wrong:1:WRONG; do
            rm -rf "$work/in/mine"
            (cd "$work/in" && "$python" "${of%%:*}.py") >"$work/said" 2>&1 || wrong="$wrong; $(cat "$work/said")"
            sh "$scripts/check_against.sh" "$build" "$work/in/mine" 04 >"$work/said" 2>&1
            status=$? expected=${of#*:}
            [ $status -eq "${expected%:*}" ] && grep -q "^o .*${of##*:}\$" "$work/said" || wrong="$wrong; of ${of%%:*}: $(cat "$work/said")"
        done
        if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
    else
        skipped=$((skipped + 1))
    fi
fi

# ---- without root --------------------------------------------------------------------------------

# The same by somebody who is not root: an honest solution, and one that only ends.
if is_wanted not_root; then
    if [ -n "$root" ] && command -v setpriv >/dev/null; then
        mkdir -p "$work/in/a" "$work/in/b" "$work/in/reports"
        cp $lesson "$work/in/a/standard_softmax.c"
        { echo "$head_of"; echo 'void standard_softmax(const float *x, float *y, size_t n)
{ (void)x, (void)y, (void)n, (void)right; _exit(fork() >= 0 ? 7 : 9); }'; } >"$work/in/b/standard_softmax.c"
        chmod -R go+rX "$work"
        chown -R 65534 "$work/in/reports"
        mkdir "$work/in/tmp"
        chmod 777 "$work/in/tmp"
        for who in a b; do
            QUIET=1 TMPDIR="$work/in/tmp" setpriv --reuid 65534 --clear-groups sh "$scripts/grade.sh" "$build" "$work/in/$who" \
                "$work/in/reports/$who" 5 01 >"$work/said" 2>&1 </dev/null || cat "$work/said"
        done
        if grep -q '^"a",3,1,1' "$work/in/reports/a/row.csv" && grep -q 'it ended with status 9' "$work/in/reports/b/report.txt"; then
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
