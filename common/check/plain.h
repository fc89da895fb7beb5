/*
 * For tests of the checks: a correct result in the kernels' precision, float32. One formula per
 * loop, a row of S and P stored, sums in order. Each function has the contract of its namesake in
 * reference.h. If p->dtype has 16 bits, P, O and (backward) dS are rounded to it, as in kernels; S,
 * lse, gradients and sums stay float32.
 */
#ifndef COMMON_PLAIN_H
#define COMMON_PLAIN_H

#include "common/problem/attention.h"

/* y may be x. */
void plain_softmax(const float *x, float *y, size_t rows, size_t cols);

void plain_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                   float *O, float *lse);

void plain_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                    const float *dO, float *dQ, float *dK, float *dV);

#endif
