/*
 * Chapter 03. y = softmax(x) for one row of n elements, in two passes: 3n accesses to slow memory.
 *
 * As IEEE arithmetic has it, a row of only -inf is NaN, and so is a row with +inf or NaN in it.
 * y may be x. The second function is the first with its accesses counted (counted.c).
 */
#ifndef ONLINE_SOFTMAX_H
#define ONLINE_SOFTMAX_H

#include <stddef.h>

void online_softmax(const float *x, float *y, size_t n);
void online_softmax_counted(const float *x, float *y, size_t n);

#endif
