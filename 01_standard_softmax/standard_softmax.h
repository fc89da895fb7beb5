/*
 * Chapter 01. y = softmax(x) for one row of n elements, as the formula says: 2n loads + n stores.
 *
 * What float32 makes of the formula comes out as it is: NaN where a sum overflows or underflows.
 * y may be x.
 */
#ifndef STANDARD_SOFTMAX_H
#define STANDARD_SOFTMAX_H

#include <stddef.h>

void standard_softmax(const float *x, float *y, size_t n);

/* The same passes in vector instructions, for --bench (lanes.c). y must not overlap x. */
void standard_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

#endif
