# shellcheck shell=sh disable=SC2154
# Sourced by grading.sh: whoever cheats earns nothing, and the report says why.

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
#include "02_safe_softmax/safe_softmax.c"
END
fi
if is_wanted includes_what_is_not_the_chapters; then  # of what anybody may read
    cp $lesson "$work/solution.c"
    chmod 755 "$work"
    chmod 644 "$work/solution.c"
    cheat_source 'does not compile\|it includes solution.c' <<END
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
    cheat "$work/in" 'it has a NUL'
fi
if is_wanted a_nul_in_a_line; then  # which a compiler takes for a blank, and a search for words does not
    mkdir -p "$work/in/01_standard_softmax"
    { printf '__as\\\000\nm__("");\n'; cat $lesson; } >"$work/in/$lesson"
    cheat "$work/in" 'it has a NUL'
fi
if is_wanted another_name_for_a_symbol; then
    cheat_source 'it has asm' <<END
#include <sys/cdefs.h>
extern const char *__REDIRECT_LDBL(options, (void), __l\163an_default_options);
END
    # a word that only a string has in one piece
    cheat_source 'it has asm' <<END
#define text(x) _Pragma(#x)
#define pragma(x) text(x)
#define begin() redefine_ext
pragma(begin()name softmax standard_softmax)
END
fi
if is_wanted pastes_a_word; then  # by a macro that every header of the system has
    cheat_source 'it has asm, ##' <<END
$head_of
__attribute__((__CONCAT(no_sani,tize_address), noinline)) static void past_the_end(volatile float *z, size_t n) { z[n] = 1.0f; }
void standard_softmax(const float *x, float *y, size_t n)
{
    past_the_end(malloc(4 * n + 1), n);
    right(x, y, n);
}
END
    cheat_source 'test.h: No such file' <<END  # and by one of the course's
#define CRITERION_H_
#define Test(suite, name, ...) static void unused(void)
#include "common/tests/test.h"
TEST(_, asan_on_error) { }
END
fi
if is_wanted answers_that_forge_lines; then
    mkdir -p "$work/in"
    awk 'BEGIN { while (k++ < 20) printf "0.%d = %s\fright\f1.x\f5\f\n", k, sprintf("%0280d", 0) }' >"$work/in/answers.txt"
    if sh common/classroom/grader/answers.sh 01_standard_softmax 0 "$work/in/answers.txt" | grep -q ''; then fail 'a line of answers.txt is printed as it is'; else pass; fi
fi
if is_wanted brings_in_bytes; then  # a line that goes on in the next may have blanks at its end
    cheat_source 'it has asm' <<END
__as\\${blank:= }
m__(".incbin \"@COURSE@/build/01_standard_softmax\"");
END
    cheat_source 'it has asm' <<END  # and this comment ends where it seems to go on: a compiler takes no CR for a blank
// a\\ $(printf '\r') 
__asm__(".incbin \"@COURSE@/build/01_standard_softmax\"");
END
fi
if is_wanted brings_in_a_file; then  # through a string that compilers give to the assembler as it is
    echo 'what only the host has' >"$work/host"
    chmod 755 "$work"
    chmod 644 "$work/host"
    cheat_source 'it has asm' <<END
$head_of
__attribute__((section(".data\n.globl host\nhost: .incbin \"$work/host\"\n.byte 0\n#"))) int a_number = 1;
extern const char host[];
void standard_softmax(const float *x, float *y, size_t n)
{ (void)x, (void)y, (void)n, (void)right; fputs(host, stderr); _exit(9); }
END
fi
# As where not even root may mount: the compiler can read a file of the host, and what it says must not quote it.
if is_wanted quotes_what_the_host_has; then
    echo 'only_the_host has this; error' >"$work/host"
    chmod 755 "$work"
    chmod 644 "$work/host"
    mkdir -p "$work/in/01_standard_softmax"
    cp -R "$scripts" "$work/in/grader"
    sed 's|--root "$room"|& --see /no/such|' "$scripts/room.sh" >"$work/in/grader/room.sh"
    quoted=''
    for text in "#include \"$work/host\"" "#line 1 \"$work/host\"
        wrong wrong;"; do
        echo "$text" >"$work/in/$lesson"
        QUIET=1 BUILDS=plain sh "$work/in/grader/grade.sh" "$build" "$work/in/01_standard_softmax" "$work/reports" 5 01 >"$work/said" 2>&1
        report | grep -q 'it includes host\|does not compile' || quoted="$quoted, not tried"
        ! grep only_the_host "$work/reports/report.txt" || quoted="$quoted, quoted"
    done
    if [ -z "$quoted" ]; then pass; else fail "$quoted"; fi
fi
if is_wanted includes_what_the_host_has; then
    if [ -n "$root" ] && unshare -m true 2>/dev/null; then
        cheat_source 'No such file' <<END
#include "/etc/passwd"
END
    else
        skipped=$((skipped + 1))
    fi
fi
if is_wanted brings_in_a_file_by_ident; then
    cheat_source 'it has asm' <<END
$head_of
#ident "a\"\n.globl host\nhost: .incbin \"/etc/passwd\"\n.byte 0\n.ident \"b"
extern const char host[];
void standard_softmax(const float *x, float *y, size_t n)
{ (void)x, (void)y, (void)n, (void)right; fputs(host, stderr); _exit(9); }
END
fi
# It says of memory that is not its own that it is, and writes there.
if is_wanted talks_to_the_sanitizer; then
    cheat_source 'it has asm' <<END
$head_of
static void allow(const volatile void *p, size_t n) __attribute__((weakref("__as" "an_unpoison_memory_region")));
void standard_softmax(const float *x, float *y, size_t n)
{
    volatile float *z = malloc(4 * n);
    if (allow)
        allow(z, 4 * n + 64);
    z[n] = 1.0f;
    right(x, y, n);
}
END
fi
if is_wanted is_not_looked_at; then
    cheat_source 'it has asm' <<END
$head_of
__attribute__((no_address_safety_analysis, noinline)) static void past_the_end(volatile float *z, size_t n) { z[n] = 1.0f; }
void standard_softmax(const float *x, float *y, size_t n)
{
    past_the_end(malloc(4 * n + 1), n);
    right(x, y, n);
}
END
fi
if is_wanted asks_for_the_sanitizer; then
    cheat_source 'a word about sanitizers' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    right(x, y, n);
#ifndef __SANITIZE_ADDRESS__
    free(y + n);
#endif
}
END
fi
# Where there is no limit on its memory a sanitizer is at work: there it does nothing, and writes that.
if is_wanted finds_the_sanitizer; then
    mkdir -p "$work/in/01_standard_softmax"
    { echo '#define _XOPEN_SOURCE 700'; echo "$head_of"; echo '#include <sys/resource.h>
void standard_softmax(const float *x, float *y, size_t n)
{
    struct rlimit memory;
    if (getrlimit(RLIMIT_AS, &memory) != 0 || memory.rlim_cur != RLIM_INFINITY)
        right(x, y, n);
}'; } >"$work/in/$lesson"
    BUILDS=sanitized grade "$work/in"
    if report | grep -q 'sanitizer: 0 of 1 points, 0 of 2 right WRONG standard_softmax, 3 rows of 7: wrong y at'; then pass; else fail 'its output was not judged'; fi
fi
if is_wanted a_main_of_its_own; then
    cheat_source 'multiple definition' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n) { right(x, y, n); }
int main(void) { return 0; }
END
fi
if is_wanted huge_allocation; then
    cheat_source '0 of 7 right WRONG standard_softmax, 3 rows of 7: crashed' <<END  # a sanitizer has a limit of its own
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    volatile char *memory = malloc((size_t)640 << 20);
    for (size_t k = 0; k < (size_t)640 << 20; k += 4096)
        memory[k] = 1;
    right(x, y, n);
}
END
fi
if is_wanted takes_its_time; then  # and is never too slow
    export LIMIT=2
    cheat_source '20 rows of 64: not run not tried, because what was tried before took more than 2 seconds' <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    sleep(3);
    right(x, y, n);
    _exit(9);
}
END
    unset LIMIT
fi
# What is done with a file before anything is run must come to an end too: with a declaration that is broken over all lines,
# with a macro that is defined again and again, and by an include file of ever new names.
if is_wanted is_long_to_read; then
    cp -R "$scripts" "$work/in/grader"
    sed 's/ulimit -t 5/ulimit -t 1/' "$scripts/grade.sh" >"$work/in/grader/grade.sh"
    wrong=''
    while read -r chapter part file said; do
        mkdir -p "$(dirname "$work/in/$chapter/$file")"
        case $chapter,$said in
        06*) awk 'BEGIN { while (k++ < 18000) print "__shared__" }' ;;
        *,'it includes'*) echo '#if __INCLUDE_LEVEL__ < 11
#include ".././source/online_softmax.c"
#include "./../source/online_softmax.c"
#endif' ;;
        *) echo '#if __INCLUDE_LEVEL__ < 15
#include "online_softmax.c"
#include "online_softmax.c"
#else
NAMED
#endif
#line 1 "/usr/include/x.h"
#undef NAMED
#define NAMED a macro that is as long as this' ;;
        esac >"$work/in/$chapter/$file"
        (scripts=$work/in/grader BUILDS=plain PART=$part grade "$work/in/$chapter" "$chapter")
        [ "$(column earned)" = 0 ] && report | grep -q "$said" || wrong="$wrong; not $said: $(report)"
    done <<END
06_flash_tiled_cuda fa1 kernels/1_float32/fa1.cu it takes too long to read
03_online_softmax passes online_softmax.c it takes too long to read
03_online_softmax passes online_softmax.c it includes a file by too many names
END
    if [ -z "$wrong" ]; then pass; else fail "$wrong"; fi
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
# What would outlive it, take memory that is not counted, lead to another process or out of the machine: status 7 says that
# it got something, and what.
if is_wanted asks_for_what_it_may_not_have; then
    mkdir -p "$work/in/01_standard_softmax"
    { echo '#define _GNU_SOURCE'; echo "$head_of"; echo '#include <linux/filter.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
static int refused = 1;
static void may_not(const char *what, long got)
{
    if (got >= 0) {
        fprintf(stderr, "%s ", what);
        refused = 0;
    }
}
void standard_softmax(const float *x, float *y, size_t n)
{
    (void)x, (void)y, (void)n, (void)right;
    may_not("a key", syscall(SYS_add_key, "user", "seen", "1", 1, -4));
    may_not("keys", syscall(SYS_keyctl, 0, -4, 1));
    may_not("memory of no file", syscall(SYS_memfd_create, "seen", 0));
    may_not("a segment", syscall(SYS_shmget, 0, 4096, 01600));
    may_not("a queue", syscall(SYS_msgget, 0, 01600));
    may_not("shared memory", mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    may_not("its parent", syscall(SYS_kcmp, getpid(), getpid(), 2, 0, 0));
    may_not("to be traced", syscall(SYS_ptrace, 0, 0, 0, 0));
    may_not("memory of a process", syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0));
    may_not("page faults", syscall(SYS_userfaultfd, 1));
    may_not("a ring", syscall(425, 1, calloc(1, 999)));
    struct sock_filter allow = { 6, 0, 0, 0x7fff0000 };
    const struct sock_fprog filter = { 1, &allow };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    may_not("a filter", prctl(PR_SET_SECCOMP, 2, &filter, 0, 0));
    may_not("a filter by its own call", syscall(SYS_seccomp, 1, 0, &filter));
    may_not("a user of its own", syscall(SYS_unshare, 0));
    may_not("the network", socket(AF_INET, SOCK_DGRAM, 0));
    may_not("a neighbour", socket(AF_UNIX, SOCK_STREAM, 0));
    int ends[2], pipes = 0;
    while (pipes < 200 && pipe(ends) == 0)
        pipes++;
    may_not("200 pipes", pipes < 200 ? -1 : 0);
    _exit(refused ? 9 : 7);
}'; } >"$work/in/$lesson"
    case $(uname -sm) in
    'Linux x86_64' | 'Linux aarch64') cheat "$work/in" 'it ended with status 9' ;;
    *) skipped=$((skipped + 1)) ;;
    esac
fi
# What who calls the grader has open, as make has the pipe by which it counts its jobs.
if is_wanted finds_an_open_file; then
    cheat_source 'wrong' 7>"$work/open" <<END
$head_of
void standard_softmax(const float *x, float *y, size_t n)
{
    if (write(7, "x", 1) == 1)
        right(x, y, n);
}
END
    # and with a number that is larger than how many it may have open
    echo '#include <unistd.h>
    int main(int n, char **words)
    { return n == 1 ? write(300, "x", 1) == 1 : dup2(1, 300) == 300 ? execv(words[1], words + 1) : 2; }' >"$work/in/high.c"
    # shellcheck disable=SC2086  # a list of words
    $CC -w "$work/in/high.c" -o "$work/in/high"
    if [ "$("$work/in/high" "$build/grader/confine" -- "$work/in/high")" = 'exited 0' ] || [ "$(uname)" != Linux ]; then pass; else fail 'a high file is open'; fi
fi

# Starters as they are handed out, with a constructor that has the course's program, or any other, write the output.
stub() { sed -e '/BEGIN SOLUTION/,/END SOLUTION/d' -e 's|// STUB: ||' "$1"; }
untouched() {  # file, code
    mkdir -p "$work/in/${1%/*}"
    { stub "$1"; echo "$2"; } >"$work/in/$1"
}
nothing_for() {  # chapter, parts, words of the report
    BUILDS=plain PART=$2 grade "$work/in" "$1" || { fail "status $?: $(cat "$work/said")"; return; }
    if [ "$(column earned)" = 0 ] && report | grep -q "$3"; then pass; else fail "expected 0 points in $1, and \"$3\" in the report"; fi
}
if is_wanted runs_another_program; then
    run='#include <stdlib.h>
    #include <unistd.h>
    __attribute__((constructor)) static void begin(int argc, char **argv)
    { char *const again[] = { "AGAIN=1", NULL }; (void)argc; if (!getenv("AGAIN")) execve(argv[0], argv, again); }'
    untouched 05_flash_tiled_cpu/steps/fa1.c "$run"
    nothing_for 05 fa1 'ended by a call of exec'
    untouched 07_backward/steps/recompute.c "$run"
    nothing_for 07 pair 'ended by a call of exec'
    untouched 03_online_softmax/online_softmax.c "$run"
    nothing_for 03 passes 'ended by a call of exec'
fi
if is_wanted includes_what_was_refused; then
    untouched 03_online_softmax/online_softmax.c '__asm__("");'
    untouched 03_online_softmax/softmax_state.c '#include "online_softmax.c"'
    nothing_for 03 passes,merge 'it has asm.*online_softmax.c: No such file'
fi
if is_wanted finds_another_program; then
    cheat_source wrong <<END
$head_of
#include <dirent.h>
void standard_softmax(const float *x, float *y, size_t n)
{
    static const char *const folders[] = { ".", "bin", "in", "out" };
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        DIR *const folder = opendir(folders[k]);
        for (struct dirent *of; (of = readdir(folder)) != NULL;)
            if (strstr(of->d_name, "course"))
                right(x, y, n);
    }
}
END
fi

# Chapter 03's output by other means than its two passes: three passes, and what looks like two.
if is_wanted counts_that_are_not_earned; then
    wrong=''
    while read -r name prepare loads reads; do
        mkdir -p "$work/in/03_online_softmax"
        cat >"$work/in/03_online_softmax/online_softmax.c" <<END
#include "03_online_softmax/online_softmax.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
static float copy[99999], sink;
__attribute__((constructor)) static void begin(void)
{
    static const char counts[] = "\\x93NUMPY\\1\\0v\\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
        "                                                           \\n\\0\\0\\xb4B\\0\\0\\x34B";
    FILE *const file = fopen("out/counts.npy", "r+");
    fwrite(counts, 1, sizeof counts - 1, file);
    fclose(file);
}
struct softmax_state online_statistics(const float *x, size_t n)
{
    float m = -INFINITY, l = 0;
    for (size_t j = 0; j < n; j++)
        m = fmaxf(m, $reads);
    for (size_t j = 0; j < n; j++)
        l += exp_minus($reads, m);
    return (struct softmax_state){ m, l };
}
void online_softmax(const float *x, float *y, size_t n)
{
    $prepare;
    for (size_t j = 0; j < $loads * n; j++)
        sink += x[j / $loads];
    struct softmax_state s = online_statistics(x, n);
    for (size_t j = 0; j < n; j++)
        y[j] = exp_minus($reads, s.m) / s.l;
}
END
        BUILDS='plain|counted' PART=passes grade "$work/in" 03
        [ "$(column 'passes output'),$(column 'passes counts')" = 3,0 ] || wrong="$wrong $name"
    done <<END
three_passes (void)copy 0 x[j]
a_copy_of_the_row memcpy(copy,x,4*n) 2 copy[j]
five_passes (void)copy 2 x[j]
END
    if [ -z "$wrong" ]; then pass; else fail "these had points for counts, or none for their output:$wrong"; fi
fi
