#ifndef BACKWARD_FA2_H
#define BACKWARD_FA2_H

#include "07_backward/steps/tile.h"

/* D_i = dO_i.O_i. */
void fa2_D(const struct backward_head *a, float *D);

void fa2_load_queries(const struct backward_head *a, struct tile t, const float *D,
                      struct backward_memory *fast);

/* Computes P and unscaled dS of a loaded tile. */
void fa2_pairs(const struct backward_head *a, struct tile t, struct backward_memory *fast);

#endif
