/*
 * How long the steps take.
 */
#ifndef FLASH_TILED_SPEED_H
#define FLASH_TILED_SPEED_H

#include "chapter.h"
#include "options.h"

/*
 * The part "Speed": the steps that can do the problem, checked and timed in turn; or, unless it is
 * NULL, only `only` and the stage before it. Written to --csv too.
 */
void bench_steps(const struct step *only, const struct attention_input *input,
                 const struct options *options);

/*
 * The part "Ladder": from S and P in memory to the last rung, one head of N queries and keys, d = 64 and
 * 128, without a mask and causal, timed in turn with the machine's peak. Written to --csv too.
 */
void bench_ladder(size_t N, const struct options *options);

/* Seconds that the step takes, the best of some runs in about so many seconds. */
double speed_of(const struct step *step, const struct attention_input *input, struct tile_size size,
                double seconds);

#endif
