/*
 * Textbook softmax and attention in the kernels' precision, float32: one formula a loop, S and P
 * stored, sums in order. If p->dtype has 16 bits, P, O and (backward) dS are rounded to it, as
 * kernels do; S, lse, gradients and sums stay float32. Its error is what straightforward float32
 * arithmetic costs.
 */
#ifndef COMMON_PLAIN_H
#define COMMON_PLAIN_H

#include "common/problem/attention.h"

/* reference_softmax in float32. y may be x. */
void plain_softmax(const float *x, float *y, size_t rows, size_t cols);

/* reference_forward in float32. */
void plain_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                   float *O, float *lse);

/* reference_forward_row in float32. */
void plain_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                       size_t b, size_t h, size_t i, float *O_i, float *lse_i);

/* reference_backward in float32. */
void plain_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                    const float *dO, float *dQ, float *dK, float *dV);

/* The row of dQ of query (b, h, i): d elements. */
void plain_backward_query(const struct attention *p, const float *Q, const float *K, const float *V,
                          const float *dO, size_t b, size_t h, size_t i, float *dQ_i);

/*
 * The rows of dK and dV of `count` keys of one key/value head, ascending: rows[k] is (b Hkv + g) Nk
 * + j. O(Nq Nk d) for each query head of the group.
 */
void plain_backward_keys(const struct attention *p, const float *Q, const float *K, const float *V,
                         const float *dO, const size_t *rows, size_t count, float *dK, float *dV);

#endif
