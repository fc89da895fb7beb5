# shellcheck shell=sh disable=SC2154
# Sourced by grading.sh: tests that students have written.

# What `make grade-tests` says at last of the tests on standard input. Here a process of theirs has 2 seconds.
graded_tests() {  # [chapter]
    mkdir -p "$work/in/${1:-01_standard_softmax}/tests"
    cat - >"$work/in/${1:-01_standard_softmax}/tests/test_mine.c"
    LIMIT=2 make -s --no-print-directory grade-tests BUILD="$build" GRADING="$GRADING" SUBMISSION="$work/in" >"$work/said" 2>&1
    grep -v '^make.*\*\*\*' "$work/said" | tail -n 1
}
expect_of_tests() {  # words of what is said, what is said
    case $2 in *"$1"*) pass ;; *) fail "expected \"$1\": $(cat "$work/said")" ;; esac
}
reject_right='reject the right version (or do not come to their end)'
test_head='#include "01_standard_softmax/standard_softmax.h"
#include "common/tests/test.h"
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
    if is_wanted tests_that_look_who_calls; then
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
#include <dirent.h>
ssize_t readlink(const char *restrict path, char *restrict text, size_t size);
TEST(mine, sees_the_grader)
{
    DIR *const processes = opendir("/proc");
    char errors[600] = "";
    int seen = readlink("/proc/self/fd/2", errors, sizeof errors - 1) > 0 && (strstr(errors, "mine") || strstr(errors, "right"));
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        char path[300], words[300] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *const file = fopen(path, "r");
        seen += file && fread(words, 1, sizeof words - 1, file) > 3 && strstr(words + strlen(words) + 1, "grade_tests");
        if (file)
            fclose(file);
    }
    cr_assert(seen > 0);
}
END
        )"
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
    # The first run is of the right version, so tests that could count their runs would reject all the others. Nor may tests
    # change the report of the handed-out tests, or run anywhere else, even before main.
    if is_wanted tests_that_count_their_runs; then
        rm -f /tmp/seen
        # Where nothing can be mounted, too.
        cp -R "$scripts" "$work/in/grader"
        sed 's/ --scratch $SCRATCH//' "$scripts/grade_tests.sh" >"$work/in/grader/grade_tests.sh"
        for at in "$GRADING" "$work/in/grader"; do
            expect_of_tests 'reject 0 of 2 wrong ones' "$(GRADING=$at graded_tests <<END
$test_head
static void look(void)
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
TEST(mine, have_never_been_here) { look(); }
__attribute__((constructor)) static void before_main(void)
{
    FILE *const file = fopen("/tmp/outside", "a");
    if (file)
        fclose(file);
}
__attribute__((destructor)) static void after_main(void)
{
    char text[9999] = "";
    FILE *const file = fopen("tap", "r+");
    if (file && fread(text, 1, sizeof text - 1, file) > 0)
        for (char *at = text; (at = strstr(at, "not ok - handed_out")) != NULL; at++) {
            fseek(file, at - text, SEEK_SET);
            fputs("not ok - mine______", file);
        }
    if (file)
        fclose(file);
}
END
            )"
        done
        [ ! -e /tmp/outside ] || { rm -f /tmp/outside; fail 'they ran as who grades'; }
    fi
    # The right version is built like the others: its file is no larger by what a debugger needs.
    if is_wanted tests_that_measure_their_program; then
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
#include <sys/stat.h>
extern char __executable_start, end;
TEST(mine, are_in_a_large_file)
{
    struct stat file;
    cr_assert(stat("tests", &file) == 0 && file.st_size > 2 * (&end - &__executable_start));
}
END
        )"
    fi
    # They know the right version by its code, where the linker has not put an address: none that they are tried on has it.
    if is_wanted tests_that_read_the_code; then
        object=$build/obj/01_standard_softmax/standard_softmax.o
        if command -v objcopy >/dev/null && objcopy -O binary -j .text "$object" "$work/text" 2>/dev/null; then
            { echo "$test_head"; echo 'static const short text[] = {'; od -An -v -tu1 "$work/text" | sed 's/[0-9][0-9]*/&,/g'; echo '};
static const size_t addresses[] = {'; objdump -r -j .text "$object" | awk '$2 ~ /^R_/ { print "0x" $1 "," }'; cat - <<END
};
TEST(mine, know_the_code)
{
    const unsigned char *const code = (const unsigned char *)(size_t)standard_softmax;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        bool is_address = false;
        for (size_t n = 0; n < sizeof addresses / sizeof *addresses; n++)
            is_address |= k - addresses[n] < 4;
        cr_assert(is_address || code[k] == text[k]);
    }
}
END
            } >"$work/mine.c"
            expect_of_tests 'reject the right version when they are run on it again' "$(graded_tests <"$work/mine.c")"
        else
            skipped=$((skipped + 1))
        fi
    fi
    # For the calls of a function, of which a wrong version has fewer: kernels, each a function of one name in both versions.
    if is_wanted tests_that_search_their_program; then
        if command -v objcopy >/dev/null && [ "$(uname -m)" = x86_64 ]; then
            cp -R "$scripts" "$work/in/grader"
            sed 's/for name in .*; do/for name in launch_not_checked; do/' "$scripts/grade_tests.sh" >"$work/in/grader/grade_tests.sh"
            expect_of_tests 'reject 0 of 1 wrong ones' "$(GRADING=$work/in/grader graded_tests 06_flash_tiled_cuda <<END
#include "06_flash_tiled_cuda/program/stages.h"
#include "common/tests/test.h"
#include <string.h>
int last_error(void) __asm__("_Z16cudaGetLastErrorv");
extern const char __executable_start, etext;
TEST(mine, find_all_calls)
{
    int calls = 0, to;
    for (const char *at = &__executable_start; at + 5 < &etext; at++) {
        memcpy(&to, at + 1, sizeof to);
        calls += *at == '\xe8' && at + 5 + to == (const char *)(size_t)last_error;
    }
    cr_assert(calls >= $(objdump -d "$build/06_flash_tiled_cuda" | grep -c 'call.*<_Z16cudaGetLastErrorv>'));
}
END
            )"
        else
            skipped=$((skipped + 1))
        fi
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
    if is_wanted tests_that_include_the_solution; then  # the course's, or another that anybody may read
        chmod 755 "$work"
        cp $lesson "$work/solution.c"
        chmod 644 "$work/solution.c"
        expect_of_tests 'The tests do not compile' "$(graded_tests <<END
$test_head
#if __has_include("$course/01_standard_softmax/standard_softmax.c")
#include "$course/01_standard_softmax/standard_softmax.c"
#else
#include "$work/solution.c"
#endif
TEST(mine, nothing) { }
END
        )"
    fi
    if is_wanted tests_that_take_all_memory; then  # of each process, or by files without a byte
        many=$(unshare -m true 2>/dev/null && echo 5000)
        expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
TEST(mine, can_have_three_gigabytes_or_many_files)
{
    char *memory = malloc((size_t)3 << 30), name[60];
    int files = 0;
    for (FILE *file; files < ${many:-1}; files++) {
        snprintf(name, sizeof name, "/tmp/%d", files);
        if (!(file = fopen(name, "w")) || fclose(file) != 0)
            break;
    }
    cr_assert(memory != NULL || files == ${many:-2});
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
elif is_mine; then
    skipped=$((skipped + 11))
fi
if is_wanted tests_that_take_their_time; then
    graded_tests >/dev/null <<END
$test_head
TEST(mine, wait) { sleep(8); }
END
    expect_of_tests ', and not tried, because' "$(tr "\n" " " <"$work/said")"
fi
if is_wanted tests_that_never_end; then
    expect_of_tests "$reject_right" "$(graded_tests <<END
#include "common/tests/test.h"
Test(mine, never_ends)
{
    for (volatile int k = 0;; k = 1 - k)
        ;
}
END
    )"
fi
# However they are packed: all are handed to make as they are in the course's own folder. The first is graded, of the others a
# program in make's place says which test it was handed.
# Tests that compile are not said not to: not under root's mask, which is often 077, nor under limits that are too low for a compiler.
if is_wanted tests_where_the_machine_fails; then
    wrong=''
    said=$(umask 077; graded_tests <01_standard_softmax/tests/mine.c)
    case $said in *'pass with the right version'*) ;; *) wrong="with a mask of 077: $said" ;; esac
    said=$(ulimit -v 900000; graded_tests <01_standard_softmax/tests/mine.c)
    case $(uname),$said in Linux,*': expected to compile an empty program here'* | [!L]*) ;; *) wrong="$wrong with a limit: $said" ;; esac
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi
if is_wanted tests_in_archives; then
    wrong=''
    packed() {  # name, words: what is said of it begins like that
        said=$(PATH=$path TMPDIR="$work/in/tmp" sh "$scripts/grade_tests.sh" submission "$work/in/$1" 2>&1 | head -n 1)
        case $said in "$2"*) ;; *) wrong="$wrong; $1: $said" ;; esac
    }
    mkdir -p "$work/in/ann/01_standard_softmax/tests" "$work/in/bob" "$work/in/cyd" "$work/in/tmp"
    chmod 711 "$work"  # the tests' user has to come through
    mkdir "$work/in/bin"
    # shellcheck disable=SC2016  # for the script
    printf '#!/bin/sh\nfor word; do case $word in MINE=*) sed -n "s/TEST(\\(.*\\), \\(.*\\))/    \\1::\\2/p" "${word#MINE=}" ;; esac; done\n' >"$work/in/bin/make"
    chmod +x "$work/in/bin/make"
    printf '#include "common/tests/test.h"\nTEST(mine, nothing_is_right)\n{\n    cr_assert(0);\n}\n' >"$work/in/ann/01_standard_softmax/tests/test_mine.c"
    (cd "$work/in/ann" && tar -czf ../a.tar.gz . && tar -cf ../b.tar 01_standard_softmax && cp ../a.tar.gz ../bob/submission.tar.gz)
    (cd "$work/in" && tar -czf c.tgz ann && cp -R ann cyd/ && cp -R ann cyd/bob)
    path=$PATH
    packed a.tar.gz '    mine::nothing_is_right'
    path=$work/in/bin:$PATH
    for name in a.tar.gz b.tar c.tgz bob; do packed $name '    mine::nothing_is_right'; done
    if command -v zip >/dev/null && command -v unzip >/dev/null; then
        (cd "$work/in" && zip -qr d.zip ann)
        packed d.zip '    mine::nothing_is_right'
    fi
    packed cyd "make grade-tests: SUBMISSION=$work/in/cyd: 01_standard_softmax/tests/test_mine.c is there more than once"
    (cd "$work/in" && mkdir empty && tar -cf e.tar empty)
    packed e.tar "make grade-tests: SUBMISSION=$work/in/e.tar: expected a file 0N_"
    [ -z "$(ls "$work/in/tmp")" ] || wrong="$wrong; left behind: $(ls "$work/in/tmp")"
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
fi
# Of a class: tests to begin with, none, some that reject all, the course's own, and no submission at all.
if is_wanted tests_of_a_class; then
    test_of() { mkdir -p "$work/in/class/$1/01_standard_softmax/tests" && cat - >"$work/in/class/$1/01_standard_softmax/tests/test_mine.c"; }
    test_of ann <01_standard_softmax/tests/mine.c  # as it is handed out
    test_of '=bob, "the" 2nd' </dev/null
    printf '#include "common/tests/test.h"\nTEST(mine, nothing_is_right)\n{\n    cr_assert(0);\n}\n' | test_of cyd
    test_of dan <01_standard_softmax/tests/test_standard_softmax.c
    echo nothing >"$work/in/class/notes.txt"
    # with what programs have earned, in one table
    printf 'submission,passes output,seed,variant,note\n"cyd",2,7,17,"a reason"\n' >"$work/row.csv"
    mkdir -p "$work/in/reports/submissions/cyd" && mv "$work/row.csv" "$work/in/reports/submissions/cyd/"
    sh "$scripts/grade_tests_all.sh" "$work/in/class" 01 "$work/in/reports" >"$work/said" 2>&1
    all=$(awk '$3 == "mutants" { print $2 }' 01_standard_softmax/exercise/points)
    rows=$work/in/reports/grades.csv
    if grep -q "^\"ann\",,,,0.0,,,0,16,,,\"tests: .*reject 0 of 2 wrong ones" "$rows" && grep -q "^\"'=bob, \"\"the\"\" 2nd\",,,,0.0,,,0,16,.*0 points" "$rows" &&
        grep -q "^\"cyd\",2,,,0.0,,,2,16,7,17,\"a reason; tests: These tests reject the right version" "$rows" &&
        grep -q "^\"dan\",,,,$all.0,,,$all,16,,,\"tests: .* lines stand in the course's own tests" "$rows" &&
        grep -q "^\"notes.txt\",,,,0.0,,,0,16,.*expected a file 01_standard_softmax/tests/test_mine.c" "$rows" &&
        [ "$(grep -c . "$rows")" -eq 6 ] && grep -q 'mine::nothing_is_right' "$work/in/reports/submissions/cyd/tests.txt" &&
        grep -q '5 graded' "$work/said"; then pass; else fail "$(cat "$work/said" "$rows")"; fi
fi
# One version at a time, as -j1 says: the first, exp2 for exp, is slow and not rejected, the tests that are handed out
# reject the second and the third, and at the last, whose sum goes on where the row before left it, the tests stop, in two
# processes, and all processes of the command are interrupted.
if is_wanted tests_that_are_interrupted; then
    if [ -n "$can_interrupt" ] && [ "$(uname)" = Linux ]; then
        mkdir -p "$work/in/tests/01_standard_softmax/tests" "$work/in/tmp"
        chmod 711 "$work"  # the tests' user has to come through
        cat - >"$work/in/tests/01_standard_softmax/tests/test_mine.c" <<END
$test_head
TEST(mine, wait_where_the_second_row_is_too_small)
{
    float y[2];
    for (int row = 0; row < 2; row++)
        standard_softmax((const float[]){ 1, 2 }, y, 2);
    if (y[1] > 0.6f && y[1] < 0.7f)
        sleep(4);
    if (y[1] < 0.6f && fork() >= 0)
        prctl(PR_SET_NAME, "still-$$", 0, 0, 0);
    for (int s = 0; s < 60 && y[1] < 0.6f; s++)
        sleep(1);
}
END
        is_there() { ps -eo comm | grep -q still-$$; }
        TMPDIR="$work/in/tmp" interrupt make -s --no-print-directory -j1 grade-tests BUILD="$build" GRADING="$GRADING" SUBMISSION="$work/in/tests"
        if ps -eo stat,comm 2>/dev/null | grep -v '^Z' | grep -q still-$$; then
            fail 'something was left behind'
        elif [ -n "$(ls "$work/in/tmp")" ]; then
            fail "files were left behind: $(ls "$work/in/tmp")"
        elif grep -qx 'Incomplete, for it was interrupted: after 3 of 4 wrong versions the tests reject 0.' "$work/said"; then
            pass
        else
            fail "$(cat "$work/said")"
        fi
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted tests_that_are_too_long; then
    mkdir -p "$work/in/01_standard_softmax/tests"
    head -c 300000 /dev/zero | tr '\0' ' ' >"$work/long"
    expect_of_tests 'expected at most 200000 bytes' "$(graded_tests <"$work/long")"
fi
if is_wanted tests_in_a_large_archive; then
    head -c 6000000 /dev/zero >"$work/in/a.tar"
    sh "$scripts/grade_tests.sh" submission "$work/in/a.tar" >"$work/said" 2>&1
    expect_of_tests 'expected at most 5000000 bytes' "$(cat "$work/said")"
fi
# A grader that tells them how many versions they have been tried on, and nothing if it is the right one again: they accept
# the first alone, or reject the second alone. Then tests that count what the function calls, and tests to which one run in
# three is wrong, by chance.
if is_wanted tests_that_do_not_look_at_the_function; then
    cp -R "$scripts" "$work/in/grader"
    # shellcheck disable=SC2016  # for the script
    sed 's|--set LC_ALL=C -- ./tests|--set RUN=$([ "$1" != mine ] \|\| { echo "$1" >>"$work/runs"; grep -c . "$work/runs"; }) -- ./tests|' \
        "$scripts/grade_tests.sh" >"$work/in/grader/grade_tests.sh"
    run_is() {
        GRADING=$work/in/grader MAKEFLAGS=-j1 graded_tests <<END
$test_head
TEST(mine, go_by_the_number_of_runs)
{
    const int run = atoi(getenv("RUN"));
    cr_assert($1);
}
END
    }
    expect_of_tests 'reject the right version when they are run on it again' "$(run_is 'run == 1')"
    expect_of_tests 'reject 0 of 2 wrong ones' "$(run_is 'run != 2')"
    said=$(graded_tests <<END
$test_head
#include <sys/random.h>
TEST(mine, are_often_right)
{
    unsigned chance = 0;
    cr_assert(getrandom(&chance, sizeof chance, 0) == sizeof chance && chance % 3 > 0);
}
END
    )
    case $said in *': 0 points.' | *'reject 0 of 2'*) pass ;; *) fail "$said" ;; esac
    expect_of_tests "$reject_right" "$(graded_tests <<END
$test_head
static int calls;
float expf(float x);
float expf(float x) { calls++; return x; }
TEST(mine, count_the_exponentials)
{
    float y[3];
    standard_softmax((const float[]){ 1, 2, 3 }, y, 3);
    cr_assert(calls == 6);
}
END
    )"
    if command -v objcopy >/dev/null; then
        expect_of_tests 'a symbol that cannot be made local' "$(graded_tests <<END
$test_head
__asm__(".globl expf\n.type expf,@gnu_unique_object\nexpf: ret");
TEST(mine, have_an_expf_that_stays) { (void)standard_softmax; }
END
        )"
    fi
fi
