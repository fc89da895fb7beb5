/*
 * Times steps: each is checked first, then all are timed in turn, together with the machine's peak,
 * because its speed varies.
 */
#ifndef COMMON_LAB_SPEED_H
#define COMMON_LAB_SPEED_H

#include "common/lab/lab.h"
#include "common/measure/bench.h"

/* A step on a problem, its time and its error. */
struct runner {
    const struct step *step;
    const struct attention *p;
    struct tile_size size;
    struct tensors x;
    size_t threads;
    double error;
    struct bench *bench;
};

/* The best time of several runs, which take about `seconds`. */
double speed_of(const struct step *step, const struct attention *p, struct tile_size size,
                struct tensors x, double seconds);

/* Steps timed in turn; candidate 0 measures the peak. All write to the same memory. */
enum { ROUND_MOST = 24 };
struct round {
    struct tensors x;
    struct runner runners[ROUND_MOST];
    struct bench candidates[ROUND_MOST + 1];
    size_t count;
};

/* An empty round for problems of p's shape; end with round_end. */
void round_begin(struct round *round, const struct attention *p, struct tensors x);

/*
 * Adds a step on the lab's problem, on all threads or one. A wrong result makes the verdict wrong.
 */
void round_enter(struct round *round, const struct lab *lab, const struct step *step,
                 size_t threads);

void round_run(struct round *round, double seconds);
void round_end(struct round *round);

/* The number of threads the step uses. */
size_t round_threads(const struct step *step);

/* Operations per second, and as a fraction of the peak of its cores. */
struct mark {
    double flops, of_peak;
};
struct mark round_mark(const struct round *round, size_t k);

/*
 * The part "Speed": all steps that support the problem, or --step's and the one it is compared
 * with. Also to --csv.
 */
void lab_speed(const struct lab *lab);

// ---- the ladder ---------------------------------------------------------------------------------

/* A step, on one thread or on all. */
struct rung {
    const struct step *step;
    bool one_thread;
};

/*
 * The parts "Ladder": one head of N queries and keys, d = 64 and 128, full and causal, about
 * `seconds` each, with problems from `make`. Returns one core's peak; adds lines of
 * REPORT_SPEED_CSV to csv.
 */
double speed_ladder(const struct chapter *chapter, const struct rung *rungs, size_t count, size_t N,
                    double seconds,
                    struct lab (*make)(const struct chapter *chapter, struct attention p,
                                       const struct options *options),
                    const struct options *options, char csv[REPORT_CSV]);

// ---- kernels, on the current device (device_speed.c) --------------------------------------------

/*
 * The kernel's seconds with its arrays in the device's memory, the median of several runs; 0 on the
 * CPU, where its time means nothing.
 */
double device_seconds(const struct lab *lab, const struct step *kernel);

/*
 * The part "Speed": the kernels that support the lab's problem, or the one of --step and the one
 * before. Also to --csv.
 */
void device_speed(struct lab *lab);

/* Heads of a batch of 4, queries and keys, and d. */
struct ladder_shape {
    size_t heads, N, d;
};

/*
 * The part "Speed" for problems of these shapes, unmasked and causal, which repeat the numbers of a
 * few heads. `ready` prepares a lab of those heads for checks, as lab_ready does.
 */
void device_ladder(const struct lab *lab, const struct ladder_shape *shapes, size_t count,
                   void (*ready)(struct lab *lab));

#endif
