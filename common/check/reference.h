/*
 * The ground truth: softmax and attention in double precision, forward and backward, with all
 * options; clear, not fast. (rounding.h adds how far a correct float32 result may be off.)
 *
 * Inputs are the kernels' float32 arrays. Outputs must not overlap inputs. Masked keys are not
 * read. A query without visible keys has O = 0 and lse = -inf and adds nothing to gradients.
 */
#ifndef COMMON_REFERENCE_H
#define COMMON_REFERENCE_H

#include "common/problem/attention.h"

/*
 * y_ij = e^{x_ij - m_i} / sum_j e^{x_ij - m_i}, row by row. A row of only -inf, or with +inf or
 * NaN, is NaN.
 */
void reference_softmax(const float *x, double *y, size_t rows, size_t cols);

/* O (B, H, Nq, d) and, unless it is NULL, lse (B, H, Nq): natural logarithms. */
void reference_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                       double *O, double *lse);

/* Row (b, h, i): O_i has d elements; lse_i may be NULL. */
void reference_forward_row(const struct attention *p, const float *Q, const float *K,
                           const float *V, size_t b, size_t h, size_t i, double *O_i,
                           double *lse_i);

/*
 * The gradients of sum(dO * O), in the shapes of Q, K and V; overwrites them. Grouped heads add up
 * in dK and dV.
 */
void reference_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                        const float *dO, double *dQ, double *dK, double *dV);

#endif
