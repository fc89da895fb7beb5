/*
 * y = softmax(x) for one row of n elements, by the formula: 2n loads + n stores.
 *
 * NaN where the sum overflows or underflows. y may be x.
 */
#ifndef STANDARD_SOFTMAX_H
#define STANDARD_SOFTMAX_H

#include <stddef.h>

void standard_softmax(const float *x, float *y, size_t n);

/* Vectorised, for --bench. y must not overlap x. */
void standard_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

#endif
