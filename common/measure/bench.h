/*
 * Time, measured so that it can be believed: warm, repeated, best and median, and where several
 * things are compared, taking turns in one run, so that a slow moment of the machine hits them all.
 *
 * What is being timed must not be optimised away: give it an output that the caller reads later.
 */
#ifndef COMMON_BENCH_H
#define COMMON_BENCH_H

#include <stdbool.h>
#include <stddef.h>

struct bench {
    const char *name;
    void (*work)(void *arg);  // one call of it is timed
    void *arg;
    double best, median;  // seconds for one call, filled in by bench_run
};

/*
 * Times `count` candidates in turn (A B C A B C …), after one round that is not counted, for about
 * `seconds` in all and at least five rounds. Where stderr is a terminal it shows how far it is.
 */
void bench_run(struct bench *candidates, size_t count, double seconds);

/* What bench_run shows of its progress is that of part `part` of `parts` of a longer measurement. */
void bench_progress(size_t part, size_t parts);

/* Seconds since some fixed moment; never goes back. */
double bench_now(void);

/*
 * Waits for as long as the run before took, 0.03 seconds at most. A GPU at its power limit is slower the more it had to do
 * just before; after a rest that is the same for every run.
 */
void bench_rest(double seconds_before);

/* Of a GPU's ladder, which has many problems, LADDER=N,D,CAUSAL in the environment measures one alone. */
bool bench_ladder_has(size_t N, size_t d, bool causal);

/*
 * What one core of this machine can do at most: float32 FLOP/s, a fused multiply-add being two.
 * This measurement and the next take about half a second each.
 */
double bench_fma_peak(void);

/*
 * What it times, to take its turn among other candidates: a processor is not equally fast at all
 * times. One call makes bench_fma_operations().
 */
void bench_fma_work(void *unused);
double bench_fma_operations(void);

/* Bytes per second, read plus written, of one core copying arrays that no cache holds. */
double bench_copy_bandwidth(void);

/*
 * The size of the level 1, 2 or 3 data cache in bytes, or a usual one where nobody tells; of any
 * other level, 0.
 */
size_t bench_cache_bytes(int level);

/* "AMD EPYC 9B45, 2 cores, Linux x86_64, gcc 12.2.0": what stands under a table of times. */
const char *bench_machine(void);

/*
 * The parts that a test can feed with made-up times and machines. bench_run by another clock; the
 * size of a data cache as Linux lists it under `folder`, 0 if it does not; a processor's name as
 * its maker writes it, shortened in place.
 */
void bench_run_by(double (*now)(void), struct bench *candidates, size_t count, double seconds);
size_t bench_listed_cache(const char *folder, int level);
void bench_tidy_name(char *name);

#endif
