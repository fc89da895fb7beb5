/*
 * The benchmark's rules with a fake clock: calls, counts and order.
 */
#define _XOPEN_SOURCE 700  // for posix_openpt and nanosleep

#include "common/measure/bench.h"
#include "common/tests/test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The fake clock, and the calls between two readings. */
static double the_time;
static size_t looks, calls, calls_at_last_look, calls_in_last_sample;

static double made_up_clock(void)
{
    cr_assert(++looks < 1000000, "the benchmark does not end");
    if (calls > calls_at_last_look)
        calls_in_last_sample = calls - calls_at_last_look;
    calls_at_last_look = calls;
    return the_time;
}

/* Work whose first calls take `times`, and later ones the last of them. */
struct made_up {
    const double *times;
    size_t count, called;
    char letter;
};

static char letters[1000];  // callers, in order
static size_t letters_used;

static void work(void *arg)
{
    struct made_up *w = arg;
    the_time += w->times[w->called < w->count ? w->called : w->count - 1];
    w->called++;
    calls++;
    if (w->letter && letters_used < sizeof letters - 1)
        letters[letters_used++] = w->letter;
}

static struct bench bench_of(struct made_up *w)
{
    return (struct bench){ .name = "made up", .work = work, .arg = w, .best = -1, .median = -1 };
}

static struct bench run_alone(const double *times, size_t count, double seconds)
{
    struct made_up w = { .times = times, .count = count };
    struct bench b = bench_of(&w);
    calls = calls_at_last_look = 0;
    bench_run_by(made_up_clock, &b, 1, seconds);
    return b;
}

TEST(bench, best_and_median_leave_the_warm_up_out)
{
    const double times[] = { 0.5, 5, 1, 4, 2, 3 };
    const struct bench b = run_alone(times, 6, 0.0);
    cr_assert(b.best == 1.0 && b.median == 3.0, "best %g, median %g", b.best, b.median);
}

TEST(bench, the_seconds_do_not_include_the_warm_up)
{
    const double times[] = { 100, 5, 1, 4, 2, 3, 6 };  // the median is between 3 and 4
    const struct bench b = run_alone(times, 7, 20.0);
    cr_assert(calls == 7, "%zu calls", calls);
    cr_assert(b.best == 1.0 && b.median == 3.5, "best %g, median %g", b.best, b.median);
}

TEST(bench, candidates_take_turns)
{
    const double second[] = { 1 };
    struct made_up w[3];
    struct bench b[3];
    for (int c = 0; c < 3; c++) {
        w[c] = (struct made_up){ .times = second, .count = 1, .letter = (char)('A' + c) };
        b[c] = bench_of(&w[c]);
    }
    bench_run_by(made_up_clock, b, 3, 17.0);
    cr_assert(strcmp(letters, "ABCABCABCABCABCABCABC") == 0, "they were called %s", letters);
}

TEST(bench, every_candidate_gets_its_own_times)
{
    const double times[2][6] = { { 9, 5, 1, 4, 2, 3 }, { 9, 60, 20, 50, 30, 10 } };
    struct made_up w[2];
    struct bench b[2];
    for (int c = 0; c < 2; c++) {
        w[c] = (struct made_up){ .times = times[c], .count = 6 };
        b[c] = bench_of(&w[c]);
    }
    bench_run_by(made_up_clock, b, 2, 0.0);
    cr_assert(b[0].best == 1.0 && b[0].median == 3.0, "best %g, median %g", b[0].best, b[0].median);
    cr_assert(b[1].best == 10.0 && b[1].median == 30.0, "best %g, median %g", b[1].best,
              b[1].median);
}

TEST(bench, there_are_at_least_five_rounds)
{
    const double seconds[] = { -1.0, 0.0, 2.0, 5.0, (double)NAN }, second[] = { 1 };
    for (size_t s = 0; s < sizeof seconds / sizeof *seconds; s++) {
        run_alone(second, 1, seconds[s]);
        cr_assert(calls == 1 + 5, "%g seconds: %zu calls", seconds[s], calls);
    }
}

TEST(bench, thousands_of_rounds_are_all_remembered)
{
    enum { ROUNDS = 3000 };
    static double times[1 + ROUNDS];
    double seconds = 0.5;  // the last round begins just before the end
    times[0] = 1.0;
    for (int i = 0; i < ROUNDS; i++)
        times[1 + i] = 1 + (i * 1009 + 17) % ROUNDS;  // 1 to 3000, shuffled
    for (int i = 0; i < ROUNDS - 1; i++)
        seconds += times[1 + i];
    const struct bench b = run_alone(times, 1 + ROUNDS, seconds);
    cr_assert(calls == 1 + ROUNDS, "%zu calls", calls);
    cr_assert(b.best == 1.0 && b.median == 1500.5, "best %g, median %g", b.best, b.median);
}

TEST(bench, a_short_call_is_repeated_inside_one_sample)
{
    const double microsecond[] = { 0x1p-20 };
    const struct bench b = run_alone(microsecond, 1, 0.01);
    cr_assert(calls_in_last_sample >= 100 && calls_in_last_sample < 400, "%zu calls in a sample",
              calls_in_last_sample);
    cr_assert(b.best == 0x1p-20 && b.median == 0x1p-20, "a call of %g s: best %g, median %g",
              0x1p-20, b.best, b.median);
}

TEST(bench, neither_a_cold_first_call_nor_an_interruption_passes_for_a_long_call)
{
    for (size_t interrupted = 0; interrupted < 20; interrupted++) {
        double times[21];
        for (size_t i = 0; i < 21; i++)
            times[i] = i == interrupted ? 2e-3 : 0x1p-20;
        run_alone(times, 21, 0.0);
        cr_assert(calls_in_last_sample >= 100, "call %zu interrupted: %zu calls in a sample",
                  interrupted, calls_in_last_sample);
    }
}

TEST(bench, a_call_of_a_tenth_of_a_millisecond_stands_alone)
{
    const double tenth[] = { 1.25e-4 };
    run_alone(tenth, 1, 0.0);
    cr_assert(calls_in_last_sample == 1, "%zu calls in a sample", calls_in_last_sample);
}

TEST(bench, a_long_call_beside_a_short_one_is_not_repeated)
{
    const double tiny[] = { 0x1p-20 }, long_one[] = { 1.0 };
    struct made_up w[2] = { { .times = tiny, .count = 1 }, { .times = long_one, .count = 1 } };
    struct bench b[2] = { bench_of(&w[0]), bench_of(&w[1]) };
    bench_run_by(made_up_clock, b, 2, 0.0);
    cr_assert(w[1].called == 1 + 5, "%zu calls of one second", w[1].called);
    cr_assert(b[1].best == 1.0, "best %g", b[1].best);
    cr_assert(w[0].called >= 500, "%zu calls of one microsecond", w[0].called);
}

TEST(bench, without_candidates_nothing_happens)
{
    bench_run_by(made_up_clock, NULL, 0, 1.0);
    cr_assert(calls == 0, "%zu calls", calls);
}

static void doze(void *arg)
{
    const struct timespec two_milliseconds = { .tv_nsec = 2000000 };
    nanosleep(&two_milliseconds, NULL);
    ++*(size_t *)arg;
}

static void count_up(void *arg)
{
    ++*(volatile size_t *)arg;
}

TEST(bench, by_the_real_clock_a_sleep_of_two_milliseconds_takes_as_long)
{
    size_t naps = 0;
    struct bench b = { "doze", doze, &naps, 0.0, 0.0 };
    const double start = bench_now();
    bench_run(&b, 1, 0.1);
    cr_assert(naps >= 6 && bench_now() - start >= 0.1, "%zu naps, %g s", naps, bench_now() - start);
    cr_assert(b.best >= 1.5e-3 && b.best <= 50e-3, "best %g s", b.best);
    cr_assert(b.median >= b.best && isfinite(b.median), "best %g s, median %g s", b.best, b.median);
}

TEST(bench, by_the_real_clock_a_call_of_nanoseconds_has_a_time)
{
    size_t counts[2] = { 0 };
    struct bench b[2] = { { "one", count_up, &counts[0], 0.0, 0.0 },
                          { "two", count_up, &counts[1], 0.0, 0.0 } };
    bench_run(b, 2, 0.02);
    for (int c = 0; c < 2; c++) {
        cr_assert(counts[c] > 5, "%s was called %zu times", b[c].name, counts[c]);
        cr_assert(b[c].best > 0.0 && b[c].best <= b[c].median && isfinite(b[c].median),
                  "%s: best %g s, median %g s", b[c].name, b[c].best, b[c].median);
    }
}

TEST(bench, the_clock_goes_forward_in_seconds)
{
    size_t naps = 0;
    double before = bench_now();
    for (int i = 0; i < 100000; i++) {
        const double now = bench_now();
        cr_assert(now >= before, "from %.9f back to %.9f", before, now);
        before = now;
    }
    doze(&naps);
    const double slept = bench_now() - before;
    cr_assert(slept >= 1.5e-3 && slept <= 1.0, "slept %g s", slept);
}

/* Runs a benchmark with stderr `end`, closes it, and reads the other end. */
static void run_instrumented(int end, int other, double call, double seconds, char *text,
                             size_t size)
{
    const int saved = dup(STDERR_FILENO);
    dup2(end, STDERR_FILENO);
    run_alone(&call, 1, seconds);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(end);
    size_t used = 0;
    for (ssize_t got; (got = read(other, text + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(other);
}

/* The same on a terminal; an unread one refuses what its buffer cannot hold. */
static void run_on_terminal(double call, double seconds, char *text, size_t size)
{
    const int other = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(other >= 0 && grantpt(other) == 0 && unlockpt(other) == 0, "no terminal to be had");
    const int end = open(ptsname(other), O_RDWR | O_NOCTTY | O_NONBLOCK);
    cr_assert(end >= 0, "no terminal to be had");
    run_instrumented(end, other, call, seconds, text, size);
}

TEST(bench, a_file_sees_no_progress)
{
    char text[1000];
    int ends[2];
    cr_assert(pipe(ends) == 0, "no pipe");
    run_instrumented(ends[1], ends[0], 1.0, 10.0, text, sizeof text);
    cr_assert(text[0] == '\0', "it sees \"%s\"", text);
}

TEST(bench, a_terminal_sees_rounds_and_percent_on_one_line_and_in_the_end_nothing)
{
    char text[4000], line[81] = "";
    run_on_terminal(1.0, 10.0, text, sizeof text);
    cr_assert(strstr(text, "\rround 1, 0 %\rround 2, 10 %") && strstr(text, "\rround 10, 90 %"),
              "it sees \"%s\"", text);
    cr_assert(!strchr(text, '\n'), "the progress takes more than one line: \"%s\"", text);
    size_t column = 0;
    for (const char *c = text; *c; c++)
        if (*c == '\r')
            column = 0;
        else
            line[column++ % 80] = *c;
    cr_assert(column == 0 && strspn(line, " ") == strlen(line), "it is left with \"%s\"", line);
}

TEST(bench, the_percentage_counts_the_five_rounds_too)
{
    char text[4000];
    run_on_terminal(1.0, 0.0, text, sizeof text);
    cr_assert(strstr(text, "round 5, 80 %"), "without seconds it sees \"%s\"", text);
    run_on_terminal(1.0, 2.0, text, sizeof text);
    cr_assert(strstr(text, "round 5, 80 %"), "of two seconds it sees \"%s\"", text);
}

TEST(bench, quick_rounds_are_not_slowed_by_signs_of_progress)
{
    char text[4000];
    size_t signs = 0;
    run_on_terminal(1e-3, 1.0, text, sizeof text);
    for (const char *c = text; (c = strstr(c, "round")); c++)
        signs++;
    cr_assert(signs >= 5 && signs <= 12, "%zu signs in a thousand rounds of a millisecond", signs);
}
