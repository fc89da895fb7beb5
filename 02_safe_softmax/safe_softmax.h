/*
 * Chapter 02. y = softmax(x) for one row of n elements, safe from overflow: 3n loads + n stores.
 *
 * As IEEE arithmetic has it, a row of only -inf is NaN, and so is a row with +inf or NaN in it.
 * y may be x.
 */
#ifndef SAFE_SOFTMAX_H
#define SAFE_SOFTMAX_H

#include <stddef.h>

void safe_softmax(const float *x, float *y, size_t n);

/* The same passes in vector instructions, for --bench (lanes.c). y must not overlap x. */
void safe_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

#endif
