/*
 * How long the steps take.
 */
#ifndef BACKWARD_SPEED_H
#define BACKWARD_SPEED_H

#include "07_backward/program/stages.h"

/*
 * The part "Speed": the steps that can do the problem, checked and timed in turn; or, unless it is NULL, only
 * `only` and the step before it. Written to --csv too.
 */
void bench_steps(const struct step *only, const struct layer *layer, const struct options *options);

/*
 * The part "Ladder": one head of N queries and keys, d = 64 and 128, without a mask and causal, timed in turn
 * with the machine's peak, for about so many seconds each; complete with one thread, and with all. Its last
 * line is the machine. Written to --csv too.
 */
void bench_ladder(size_t N, double seconds, const struct options *options);

/* Seconds that the step takes, the best of some runs in about so many seconds. */
double speed_of(const struct step *step, const struct layer *layer, struct tile_size size,
                double seconds);

#endif
