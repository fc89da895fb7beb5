/*
 * How far does rounding move a result? For each element: its exact value, and bounds on its error.
 *
 * We follow the computation's roundings to first order. An error δ_j of score j (dot product,
 * scale, exponential) moves O = sum_j P_j V_j by δ_j P_j (V_j - O); rounding a weight moves it by
 * the rounding times V_j. Independent roundings average out: their variances add up to sigma^2.
 * Equal weights, in 16 bits nearly equal ones, round alike and count as one. Half an ulp lost at
 * each addition of a long float32 sum is bias, up to 1/1000: a sum stuck at 2^24 is wrong. l sums
 * unrounded weights, as in FlashAttention. Shapes, inputs and masks: reference.h.
 */
#ifndef COMMON_ROUNDING_H
#define COMMON_ROUNDING_H

#include "common/problem/attention.h"

#include <stddef.h>

/* A correct result differs from `value` by at most `bias` and a few times `sigma`. */
struct exact {
    double value, sigma, bias;
};

/* The softmax of each row of x (rows, cols). */
void rounding_softmax(const float *x, struct exact *y, size_t rows, size_t cols);

/* Row (b, h, i) of O, d elements, and its lse, which may be NULL. O(Nk (d + log Nk)). */
void rounding_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i, struct exact *lse_i);

/* Row (b, h, i) of scale (Q K^T) V: attention without softmax. */
void rounding_product_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i);

/* The numbers of some rows of an array, ascending: (b heads + h) N + row. */
struct some_rows {
    const size_t *at;
    size_t count;
};

/*
 * The gradients of sum(dO * O), summed and stored in float32: some rows of dQ, and the same ones of
 * dK and dV.
 */
void rounding_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                       const float *dO, struct some_rows queries, struct some_rows keys,
                       struct exact *dQ, struct exact *dK, struct exact *dV);

/* The same result, rounded to this type at the end. */
struct exact rounding_stored(struct exact exact, enum dtype type);

#endif
