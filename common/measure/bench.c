/*
 * Timing in turn. A sample is one call, or as many as fill a tenth of a millisecond, so that the
 * clock's resolution does not matter.
 */
#define _POSIX_C_SOURCE 200809L

#include "common/measure/bench.h"

#include "common/cpu/memory.h"
#include "common/measure/progress.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double MIN_SAMPLE = 1e-4;  // seconds; a clock's resolution is 1e-6 at worst
static const size_t MIN_ROUNDS = 5;
static const double MAX_REST = 0.03;  // seconds

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_rest(double seconds_before)
{
    const double seconds = seconds_before < MAX_REST ? seconds_before : MAX_REST;
    const struct timespec t = { 0, (long)(1e9 * seconds) };
    nanosleep(&t, NULL);
}

bool bench_ladder_has(size_t N, size_t d, bool causal)
{
    const char *const one = getenv("LADDER");
    char name[64];
    snprintf(name, sizeof name, "%zu,%zu,%d", N, d, causal);
    return !one || strcmp(one, name) == 0;
}

/* Seconds per call, over `calls` calls. */
static double sample(double (*now)(void), const struct bench *candidate, size_t calls)
{
    const double start = now();
    for (size_t n = 0; n < calls; n++)
        candidate->work(candidate->arg);
    return (now() - start) / (double)calls;
}

/*
 * Warms a candidate up and returns the calls per sample, by the quicker of two samples: the first
 * pays for cold caches and new pages. A long call is made only once.
 */
static size_t warm_up(double (*now)(void), const struct bench *candidate)
{
    size_t calls = 1;
    if (sample(now, candidate, 1) >= 100.0 * MIN_SAMPLE)
        return calls;
    while (fmin(sample(now, candidate, calls), sample(now, candidate, calls)) * (double)calls <
           MIN_SAMPLE)
        calls *= 2;
    return calls;
}

void bench_run_by(double (*now)(void), struct bench *candidates, size_t count, double seconds)
{
    size_t *calls = allocate(count, sizeof *calls, "a benchmark");
    for (size_t c = 0; c < count; c++) {
        calls[c] = warm_up(now, &candidates[c]);
        candidates[c].best = (double)INFINITY;
    }
    const double start = now();
    double elapsed = 0.0;
    for (size_t round = 0; count > 0 && (round < MIN_ROUNDS || elapsed < seconds); round++) {
        if (round > 0)
            progress("timing", (size_t)(1e3 * elapsed), (size_t)(1e3 * fmax(elapsed, seconds)) + 1);
        for (size_t c = 0; c < count; c++)
            candidates[c].best = fmin(candidates[c].best, sample(now, &candidates[c], calls[c]));
        elapsed = now() - start;
    }
    progress("timing", 1, 1);
    free(calls);
}

void bench_run(struct bench *candidates, size_t count, double seconds)
{
    bench_run_by(bench_now, candidates, count, seconds);
}
