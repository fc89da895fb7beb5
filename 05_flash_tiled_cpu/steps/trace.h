#ifndef FLASH_TILED_TRACE_H
#define FLASH_TILED_TRACE_H

#include "common/lab/lab.h"

/* Exits unless the chosen step can be traced, and the problem is small enough. */
void trace_check(const struct lab *lab);

/* With --trace=csv, one line per number to standard output. */
void trace(const struct lab *lab);

/* Prints S, P, m, l and O after each tile. */
void trace_step(const struct step *step, const struct attention_input *input,
                struct tile_size size);

/*
 * FlashAttention's Theorem 1: over the keys so far m is the largest score, l the sum of
 * e^{score - m}, and O the weighted average of the values if `divided` (fa1), else l times it
 * (fa2). No masks.
 */
struct theorem {
    size_t tiles;             // checked
    size_t keys;              // processed so far
    double error_m, error_l;  // absolute; relative to l
    double error_O;           // absolute
};

/* Calls `after` each time the number of processed keys grows. */
struct theorem theorem_check(const struct step *step, const struct attention_input *input,
                             struct tile_size size, bool divided,
                             void (*after)(const struct theorem *so_far));

#endif
