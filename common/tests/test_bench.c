/*
 * The benchmark's rules with a fake clock: calls, counts and order.
 */
#define _XOPEN_SOURCE 700  // for nanosleep

#include "common/measure/bench.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>
#include <time.h>

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
    return (struct bench){ .name = "made up", .work = work, .arg = w, .best = -1 };
}

static struct bench run_alone(const double *times, size_t count, double seconds)
{
    struct made_up w = { .times = times, .count = count };
    struct bench b = bench_of(&w);
    calls = calls_at_last_look = 0;
    bench_run_by(made_up_clock, &b, 1, seconds);
    return b;
}

TEST(bench, the_best_leaves_the_warm_up_out)
{
    const double times[] = { 0.5, 5, 1, 4, 2, 3 };
    const struct bench b = run_alone(times, 6, 0.0);
    cr_assert(b.best == 1.0, "best %g", b.best);
}

TEST(bench, the_seconds_do_not_include_the_warm_up)
{
    const double times[] = { 100, 5, 1, 4, 2, 3, 6 };
    const struct bench b = run_alone(times, 7, 20.0);
    cr_assert(calls == 7, "%zu calls", calls);
    cr_assert(b.best == 1.0, "best %g", b.best);
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
    cr_assert(b[0].best == 1.0, "best %g", b[0].best);
    cr_assert(b[1].best == 10.0, "best %g", b[1].best);
}

TEST(bench, there_are_at_least_five_rounds)
{
    const double seconds[] = { -1.0, 0.0, 2.0, 5.0, (double)NAN }, second[] = { 1 };
    for (size_t s = 0; s < sizeof seconds / sizeof *seconds; s++) {
        run_alone(second, 1, seconds[s]);
        cr_assert(calls == 1 + 5, "%g seconds: %zu calls", seconds[s], calls);
    }
}

TEST(bench, a_short_call_is_repeated_inside_one_sample)
{
    const double microsecond[] = { 0x1p-20 };
    const struct bench b = run_alone(microsecond, 1, 0.01);
    cr_assert(calls_in_last_sample >= 100 && calls_in_last_sample < 400, "%zu calls in a sample",
              calls_in_last_sample);
    cr_assert(b.best == 0x1p-20, "a call of %g s: best %g", 0x1p-20, b.best);
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
    struct bench b = { "doze", doze, &naps, 0.0 };
    const double start = bench_now();
    bench_run(&b, 1, 0.1);
    cr_assert(naps >= 6 && bench_now() - start >= 0.1, "%zu naps, %g s", naps, bench_now() - start);
    cr_assert(b.best >= 1.5e-3 && b.best <= 50e-3, "best %g s", b.best);
}

TEST(bench, by_the_real_clock_a_call_of_nanoseconds_has_a_time)
{
    size_t counts[2] = { 0 };
    struct bench b[2] = { { "one", count_up, &counts[0], 0.0 },
                          { "two", count_up, &counts[1], 0.0 } };
    bench_run(b, 2, 0.02);
    for (int c = 0; c < 2; c++) {
        cr_assert(counts[c] > 5, "%s was called %zu times", b[c].name, counts[c]);
        cr_assert(b[c].best > 0.0 && isfinite(b[c].best), "%s: %g s", b[c].name, b[c].best);
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
