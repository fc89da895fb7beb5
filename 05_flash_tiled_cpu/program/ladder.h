/*
 * All steps beside one another: what they read and write, and how far off they are.
 */
#ifndef FLASH_TILED_LADDER_H
#define FLASH_TILED_LADDER_H

#include "05_flash_tiled_cpu/program/chapter.h"
#include "common/program/options.h"

/*
 * The part "Steps": a line for every step up to `last`, its accesses and errors; of one that cannot do
 * the problem, why. Written to --csv too, where that is asked for without --bench.
 */
void print_steps(enum step_name last, const struct attention_input *input,
                 const struct options *options);

#endif
