/*
 * Steps on problems of one shape, timed in turn with the machine's peak: what is measured at another
 * moment is no measure.
 */
#ifndef FLASH_TILED_RACE_H
#define FLASH_TILED_RACE_H

#include "05_flash_tiled_cpu/program/speed.h"
#include "05_flash_tiled_cpu/program/stages.h"

enum { RACE_MOST = STEPS };

struct race {
    struct result r;  // what all of them write to
    struct runner runners[RACE_MOST];
    struct bench candidates[RACE_MOST + 1];  // the peak is candidate 0
    size_t count;
};

/* Operations per second, and of the peak of so many cores. */
struct mark {
    double flops, of_peak;
};

/* A race that nobody has entered, on problems of p's shape; to be ended with race_end. */
void race_begin(struct race *race, const struct attention *p);

/* One more step, on its usual tiles or those of the options, after its results have been checked. */
void race_enter(struct race *race, const struct step *step, const struct attention_input *input,
                const struct options *options);

/* All in turn, for about so many seconds. */
void race_run(struct race *race, double seconds);

/* How many threads a step runs on. */
size_t race_threads(const struct step *step);

/* What runner k did, and what one core does at most, in operations per second. */
struct mark race_mark(const struct race *race, size_t k);
double race_peak(const struct race *race);

void race_end(struct race *race);

#endif
