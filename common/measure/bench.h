/*
 * Timing: warmed up, repeated; the best time. Candidates are timed in turn, so that a temporary
 * slowdown affects all. Give the work an output that the caller reads, or it may be optimised
 * away.
 */
#ifndef COMMON_BENCH_H
#define COMMON_BENCH_H

#include <stdbool.h>
#include <stddef.h>

struct bench {
    const char *name;
    void (*work)(void *arg);  // timed: one call
    void *arg;
    double best;  // seconds per call, set by bench_run
};

/*
 * Times `count` candidates in turn (A B C A B C …) after a warm-up round, for about `seconds` in
 * all and at least five rounds. Shows progress if stderr is a terminal.
 */
void bench_run(struct bench *candidates, size_t count, double seconds);

/* Seconds, monotonic. */
double bench_now(void);

/*
 * Waits as long as the last run took, at most 0.03 seconds: a GPU at its power limit is slower
 * after work, so every run gets the same rest.
 */
void bench_rest(double seconds_before);

/* LADDER=N,D,CAUSAL in the environment restricts a GPU's ladder to one problem. */
bool bench_ladder_has(size_t N, size_t d, bool causal);

/*
 * One core's peak: float32 FLOP/s, counting a fused multiply-add as two. Takes about half a second,
 * as does bench_copy_bandwidth.
 */
double bench_fma_peak(void);

/* What bench_fma_peak times, as a candidate: bench_fma_operations() per call. */
void bench_fma_work(void *unused);
double bench_fma_operations(void);

/* Bytes per second, read plus written, of one core copying arrays larger than any cache. */
double bench_copy_bandwidth(void);

/* Bytes of the level 1, 2 or 3 data cache, or a typical size if unknown; 0 for other levels. */
size_t bench_cache_bytes(int level);

/* "AMD EPYC 9B45, 2 cores, Linux x86_64, gcc 12.2.0", for tables of times. */
const char *bench_machine(void);

/*
 * For tests: bench_run with a given clock; a cache size as Linux lists it under `folder`, or 0;
 * shortening a processor's name in place.
 */
void bench_run_by(double (*now)(void), struct bench *candidates, size_t count, double seconds);
size_t bench_listed_cache(const char *folder, int level);
void bench_tidy_name(char *name);

#endif
