/*
 * The pieces of FlashAttention-2's backward pass that `split` is made of too.
 */
#ifndef BACKWARD_FA2_H
#define BACKWARD_FA2_H

#include "07_backward/steps/tile.h"

/* D (Nq): of each query the sum of dO O, read once and stored. */
void fa2_D(const struct backward_head *a, float *D);

/* Loads what a tile needs of its queries: Q, dO, lse and D. */
void fa2_load_queries(const struct backward_head *a, struct tile t, const float *D,
                      struct backward_memory *fast);

/* P and dS of a tile, from its Q, dO, lse and D and its K and V. */
void fa2_pairs(const struct backward_head *a, struct tile t, struct backward_memory *fast);

#endif
