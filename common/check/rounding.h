/*
 * How far does rounding move a result? Of each element: its exact value, and what rounding alone does to it.
 *
 * We follow the roundings that the computation makes, to first order. A score s_j is off by some δ_j, from its dot
 * product, its scaling and its exponential; this moves O = sum_j P_j V_j by δ_j P_j (V_j - O). A weight rounded to the
 * type of the inputs moves O by the rounding times V_j. Each partial sum is rounded, and so is the stored result.
 *
 * Independent roundings average out: their variances add up to sigma^2. Two kinds do not. Weights that are equal, or in
 * 16 bits nearly so, round alike, and count as one. A long sum in float32 can lose half a unit in the last place at each
 * addition: that is in bias. We allow it up to one part in a thousand, so a sum that stopped at 2^24 is wrong.
 *
 * l is the sum of the unrounded weights, as in FlashAttention. Shapes, inputs and masks are those of reference.h.
 */
#ifndef COMMON_ROUNDING_H
#define COMMON_ROUNDING_H

#include "common/problem/attention.h"

#include <stddef.h>

/* What a result should be. A right one differs from `value` by at most `bias` and a few times `sigma`. */
struct exact {
    double value, sigma, bias;
};

/* y (rows, cols): each row is a softmax of its own. */
void rounding_softmax(const float *x, struct exact *y, size_t rows, size_t cols);

/* Row (b, h, i) of O, d elements, and its lse, which may be NULL. O(Nk (d + log Nk)). */
void rounding_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i, struct exact *lse_i);

/* Row (b, h, i) of scale (Q K^T) V: what is left of attention without softmax. */
void rounding_product_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i);

/* The gradients of sum(dO * O), summed and stored in float32. */
void rounding_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                       const float *dO, struct exact *dQ, struct exact *dK, struct exact *dV);

/* The row of dQ that belongs to query (b, h, i). */
void rounding_backward_query(const struct attention *p, const float *Q, const float *K,
                             const float *V, const float *dO, size_t b, size_t h, size_t i,
                             struct exact *dQ_i);

/* The rows of dK and dV of `count` keys, as in reference_backward_keys. */
void rounding_backward_keys(const struct attention *p, const float *Q, const float *K,
                            const float *V, const float *dO, const size_t *rows, size_t count,
                            struct exact *dK, struct exact *dV);

/* The same result, stored in this type at the end. */
struct exact rounding_stored(struct exact exact, enum dtype type);

/* What to expect of one result where another one, which should be the same, is `other`: both were rounded. */
struct exact rounding_between(struct exact exact, float other);

#endif
