/*
 * How long steps take: each is checked first, and then they are timed in turn with the machine's peak. What is measured at
 * another moment is no measure.
 */
#ifndef COMMON_LAB_SPEED_H
#define COMMON_LAB_SPEED_H

#include "common/lab/lab.h"
#include "common/measure/bench.h"

/* A step on a problem, how long it took, and how far it was off. */
struct runner {
    const struct step *step;
    const struct attention *p;
    struct tile_size size;
    struct tensors x;
    size_t threads;
    double error;
    struct bench *bench;
};

/* Runs the step of `arg`, a struct runner, once: what is timed. */
void speed_work(void *arg);

/* Seconds that the step takes, the best of some runs in about so many seconds. */
double speed_of(const struct step *step, const struct attention *p, struct tile_size size,
                struct tensors x, double seconds);

/* Some steps, timed in turn; the peak is candidate 0. All of them write to the same memory. */
enum { ROUND_MOST = 24 };
struct round {
    struct tensors x;
    struct runner runners[ROUND_MOST];
    struct bench candidates[ROUND_MOST + 1];
    size_t count;
};

/* An empty round, on problems of p's shape; to be ended with round_end. */
void round_begin(struct round *round, const struct attention *p, struct tensors x);

/* One more step on the lab's problem, on all threads that it can have or on one. If its result is wrong, so is the verdict. */
void round_enter(struct round *round, const struct lab *lab, const struct step *step,
                 size_t threads);

void round_run(struct round *round, double seconds);
void round_end(struct round *round);

/* How many threads a step runs on. */
size_t round_threads(const struct step *step);

/* Operations per second, and of the peak of so many cores: what runner k did. */
struct mark {
    double flops, of_peak;
};
struct mark round_mark(const struct round *round, size_t k);

/* What one core does at most, in operations per second. */
double round_peak(const struct round *round);

/* The part "Speed": all steps that can do the lab's problem, or the one of --step and what that runs against. Written to --csv too. */
void lab_speed(const struct lab *lab);

// ---- the ladder ---------------------------------------------------------------------------------

/* A rung: a step, on one thread though it has more, or on all. */
struct rung {
    const struct step *step;
    bool one_thread;
};

/*
 * The part "Ladder": one head of N queries and keys, d = 64 and 128, without a mask and causal, about so many seconds each.
 * `make` gives a lab of such a problem, ready. Of `parts` parts that are shown while one waits it takes LADDER_CASES. Returns
 * the peak of one core; lines with the columns of REPORT_SPEED_CSV are added to csv.
 */
enum { LADDER_CASES = 4 };
double speed_ladder(const struct chapter *chapter, const struct rung *rungs, size_t count, size_t N,
                    double seconds,
                    struct lab (*make)(const struct chapter *chapter, struct attention p,
                                       const struct options *options),
                    const struct options *options, size_t parts, char csv[REPORT_CSV]);

#endif
