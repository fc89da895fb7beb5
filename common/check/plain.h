/*
 * The yardstick: textbook softmax and attention in the kernels' own precision, float32. One formula
 * a loop, S and P kept whole, sums in order. Where p->dtype has 16 bits, P and O are rounded to them, and backwards
 * dS, as kernels with such inputs do; S, lse, gradients and all sums stay float32. Its error against the reference is what honest float32
 * arithmetic costs on that input, and so the unit in which tolerance.h allows errors.
 */
#ifndef COMMON_PLAIN_H
#define COMMON_PLAIN_H

#include "common/problem/attention.h"

/* As reference_softmax, in float32. y may be x. */
void plain_softmax(const float *x, float *y, size_t rows, size_t cols);

/* As reference_forward, in float32. */
void plain_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                   float *O, float *lse);

/* The same for the one query (b, h, i), as reference_forward_row. */
void plain_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                       size_t b, size_t h, size_t i, float *O_i, float *lse_i);

/* As reference_backward, in float32. */
void plain_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                    const float *dO, float *dQ, float *dK, float *dV);

/* The row of dQ that belongs to query (b, h, i): d elements. */
void plain_backward_query(const struct attention *p, const float *Q, const float *K, const float *V,
                          const float *dO, size_t b, size_t h, size_t i, float *dQ_i);

/*
 * The rows of dK and dV of `count` keys, which belong to one key/value head and come in order: rows[k] is
 * (b Hkv + g) Nk + j. O(Nq Nk d) for each query head of the group.
 */
void plain_backward_keys(const struct attention *p, const float *Q, const float *K, const float *V,
                         const float *dO, const size_t *rows, size_t count, float *dK, float *dV);

#endif
