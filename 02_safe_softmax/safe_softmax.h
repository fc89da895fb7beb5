/*
 * y = softmax(x) for one row of n elements, without overflow.
 *
 * A row that is all -inf, or contains +inf or NaN, becomes NaN. y may be x.
 */
#ifndef SAFE_SOFTMAX_H
#define SAFE_SOFTMAX_H

#include <stddef.h>

void safe_softmax(const float *x, float *y, size_t n);

/* Vectorised, for --bench. */
void safe_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

#endif
