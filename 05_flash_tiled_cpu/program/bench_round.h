/*
 * Steps on problems of one shape, timed in turn with the machine's peak: what is measured at another
 * moment is no measure.
 */
#ifndef FLASH_TILED_BENCH_ROUND_H
#define FLASH_TILED_BENCH_ROUND_H

#include "05_flash_tiled_cpu/program/speed.h"
#include "05_flash_tiled_cpu/program/stages.h"

enum { ROUND_MOST = STEPS };

struct bench_round {
    struct result r;  // what all of them write to
    struct runner runners[ROUND_MOST];
    struct bench candidates[ROUND_MOST + 1];  // the peak is candidate 0
    size_t count;
};

/* Operations per second, and of the peak of so many cores. */
struct mark {
    double flops, of_peak;
};

/* An empty round, on problems of p's shape; to be ended with round_end. */
void round_begin(struct bench_round *timed, const struct attention *p);

/* One more step, on its usual tiles or those of the options, after its results have been checked. */
void round_enter(struct bench_round *timed, const struct step *step,
                 const struct attention_input *input, const struct options *options);

/* All in turn, for about so many seconds. */
void round_run(struct bench_round *timed, double seconds);

/* How many threads a step runs on. */
size_t round_threads(const struct step *step);

/* What runner k did, and what one core does at most, in operations per second. */
struct mark round_mark(const struct bench_round *timed, size_t k);
double round_peak(const struct bench_round *timed);

void round_end(struct bench_round *timed);

#endif
