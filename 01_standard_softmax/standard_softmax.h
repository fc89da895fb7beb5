/*
 * y = softmax(x) for one row of n elements, by the formula.
 *
 * Where e^x overflows, y is NaN and the rest of the row 0; if only the sum does, the row is 0; if
 * the sum is 0, NaN. y may be x.
 */
#ifndef STANDARD_SOFTMAX_H
#define STANDARD_SOFTMAX_H

#include <stddef.h>

void standard_softmax(const float *x, float *y, size_t n);

/* Vectorised, for --bench. */
void standard_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

#endif
