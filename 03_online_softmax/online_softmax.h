/*
 * Chapter 03. y = softmax(x) for one row of n elements, in two passes: 3n accesses to slow memory.
 *
 * As IEEE arithmetic has it, a row of only -inf is NaN, and so is a row with +inf or NaN in it.
 * y may be x.
 */
#ifndef ONLINE_SOFTMAX_H
#define ONLINE_SOFTMAX_H

#include "03_online_softmax/softmax_state.h"

#include <stddef.h>

void online_softmax(const float *x, float *y, size_t n);

/* The same passes in vector instructions, for --bench (lanes.c). y must not overlap x. */
void online_softmax_lanes(const float *restrict x, float *restrict y, size_t n);

/* The first pass: the maximum of the n scores x, and their sum of e^{x - m}. */
struct softmax_state online_statistics(const float *x, size_t n);

#endif
