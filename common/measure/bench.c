/*
 * Timing in turn.
 *
 * A sample is one call, or as many as fill a tenth of a millisecond, so that the clock's
 * resolution does not matter. Best and median are over samples, one per candidate and round.
 */
#define _POSIX_C_SOURCE 200809L

#include "common/measure/bench.h"

#include "common/cpu/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double MIN_SAMPLE = 1e-4;  // seconds; a clock's resolution is 1e-6 at worst
static const size_t MIN_ROUNDS = 5;
static const size_t ROUNDS_PER_ALLOCATION = 1024;
static const double MAX_REST = 0.03;          // seconds
static const double PROGRESS_INTERVAL = 0.1;  // seconds

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

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One candidate's measurement. */
struct series {
    size_t calls;     // per sample
    double *samples;  // seconds per call, one per round
};

/* Takes a sample of each candidate, and grows the arrays as needed. */
static void time_round(double (*now)(void), const struct bench *candidates, struct series *series,
                       size_t count, size_t round)
{
    for (size_t c = 0; c < count && round % ROUNDS_PER_ALLOCATION == 0; c++) {
        const size_t rounds = round + ROUNDS_PER_ALLOCATION;
        series[c].samples = realloc(series[c].samples, rounds * sizeof *series[c].samples);
        if (!series[c].samples)
            out_of_memory("the samples of a benchmark", rounds, sizeof *series[c].samples);
    }
    for (size_t c = 0; c < count; c++)
        series[c].samples[round] = sample(now, &candidates[c], series[c].calls);
}

/* Best and median over the rounds. */
static void summarise(struct bench *candidate, struct series *series, size_t rounds)
{
    qsort(series->samples, rounds, sizeof *series->samples, by_size);
    candidate->best = series->samples[0];
    candidate->median = 0.5 * (series->samples[(rounds - 1) / 2] + series->samples[rounds / 2]);
}

static double progress_before, progress_share = 1.0;

void bench_progress(size_t part, size_t parts)
{
    progress_before = (double)part / (double)parts;
    progress_share = 1.0 / (double)parts;
}

/* Overwrites the last line. */
static void show_progress(size_t round, double part)
{
    fprintf(stderr, "\rround %zu, %.0f %%", round,
            100.0 * (progress_before + progress_share * part));
}

static void wipe_progress(void)
{
    fprintf(stderr, "\r%*s\r", 40, "");
}

void bench_run_by(double (*now)(void), struct bench *candidates, size_t count, double seconds)
{
    const bool terminal = isatty(STDERR_FILENO) != 0;
    struct series *series = allocate(count, sizeof *series, "a benchmark");
    for (size_t c = 0; c < count; c++)
        series[c] = (struct series){ .calls = warm_up(now, &candidates[c]) };

    const double start = now();
    double elapsed = 0.0, next_sign = 0.0;
    size_t round = 0;
    while (count > 0 && (round < MIN_ROUNDS || elapsed < seconds)) {
        if (terminal && elapsed >= next_sign) {
            const double part = (double)round / (double)MIN_ROUNDS;
            show_progress(round + 1, seconds > 0.0 ? fmin(part, elapsed / seconds) : part);
            next_sign = elapsed + PROGRESS_INTERVAL;
        }
        time_round(now, candidates, series, count, round++);
        elapsed = now() - start;
    }
    if (terminal && count > 0)
        wipe_progress();

    for (size_t c = 0; c < count; c++) {
        summarise(&candidates[c], &series[c], round);
        free(series[c].samples);
    }
    free(series);
}

void bench_run(struct bench *candidates, size_t count, double seconds)
{
    bench_run_by(bench_now, candidates, count, seconds);
}
