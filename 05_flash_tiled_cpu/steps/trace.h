/*
 * What a step has after every tile, told in two ways; and whether it is what Theorem 1 says.
 */
#ifndef FLASH_TILED_TRACE_H
#define FLASH_TILED_TRACE_H

#include "common/lab/lab.h"

/* Ends the program unless the problem is small enough for --trace. */
void trace_check(const struct attention *p);

/* The part "Trace" about the lab's one step; or, with --trace=csv, comma-separated values on standard output: a line for every number. */
void trace(const struct lab *lab);

/* A line for every query of every tile: its scores, weights, m, l and O. */
void trace_step(const struct step *step, const struct attention_input *input,
                struct tile_size size);

/*
 * Theorem 1 of FlashAttention, run: after every tile, for the keys that its queries have gone past,
 * m is the largest score, l the sum of e^{score - m}, and O the average of the values, weighted by
 * softmax. `divided` says whether the step keeps O as that average (fa1) or l times it (fa2).
 * The step must know no mask.
 */
struct theorem {
    size_t tiles;             // at which it was checked
    size_t keys;              // that the last of them had gone past
    double error_m, error_l;  // the largest: absolute, and relative to l
    double error_O;           // absolute
};

/* Calls `after` with what is true so far, each time that the keys gone past have become more. */
struct theorem theorem_check(const struct step *step, const struct attention_input *input,
                             struct tile_size size, bool divided,
                             void (*after)(const struct theorem *so_far));

#endif
