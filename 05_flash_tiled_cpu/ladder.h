/*
 * All steps beside one another: what they read and write, how far off they are, how long they take.
 */
#ifndef FLASH_TILED_LADDER_H
#define FLASH_TILED_LADDER_H

#include "chapter.h"
#include "options.h"

/*
 * The part "Steps": a line for every step, its accesses and errors; of one that cannot do the
 * problem, why. Written to --csv too, where that is asked for without --bench.
 */
void tell_steps(const struct attention_input *input, const struct options *options);

/*
 * The part "Speed": the steps that can do the problem, checked and timed in turn; or, unless it is
 * NULL, only `only` and the stage before it. Written to --csv too.
 */
void bench_steps(const struct step *only, const struct attention_input *input,
                 const struct options *options);

/* Seconds that the step takes, the best of some runs in about so many seconds. */
double ladder_time(const struct step *step, const struct attention_input *input,
                   struct tile_size size, double seconds);

#endif
