/*
 * y = softmax(x) for one row of n elements in two passes.
 *
 * A row that is all -inf, or contains +inf or NaN, becomes NaN. y may be x.
 */
#ifndef ONLINE_SOFTMAX_H
#define ONLINE_SOFTMAX_H

#include "03_online_softmax/softmax_state.h"

#include <stddef.h>

void online_softmax(const float *x, float *y, size_t n);

/* Vectorised, for --bench. */
void online_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

/* The first pass, over n scores. */
struct softmax_state online_statistics(const float *x, size_t n);

#endif
