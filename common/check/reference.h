/*
 * The ground truth: softmax and attention in double precision, forward and backward, with every
 * option, written to be obviously right and not to be fast.
 *
 * Inputs are the float32 arrays that the kernels get; outputs are doubles. No output may overlap an
 * input. A key that a query does not see is not read for it, so what stands there (NaN, infinity)
 * cannot matter. A query that sees no key has O = 0 and lse = -inf and adds nothing to a gradient.
 */
#ifndef COMMON_REFERENCE_H
#define COMMON_REFERENCE_H

#include "common/problem/attention.h"

/*
 * y_ij = e^{x_ij - m_i} / sum_j e^{x_ij - m_i} for each of `rows` rows of `cols`. As IEEE has it, a
 * row of only -inf, and a row that holds +inf or NaN, is NaN.
 */
void reference_softmax(const float *x, double *y, size_t rows, size_t cols);

/* O (B, H, Nq, d) and, unless it is NULL, lse (B, H, Nq): natural logarithms. */
void reference_forward(const struct attention *p, const float *Q, const float *K, const float *V,
                       double *O, double *lse);

/* The same for the one query (b, h, i): O_i has d elements; lse_i may be NULL. */
void reference_forward_row(const struct attention *p, const float *Q, const float *K,
                           const float *V, size_t b, size_t h, size_t i, double *O_i,
                           double *lse_i);

/*
 * The gradients of sum(dO * O) by Q, K and V, in their shapes; the old contents of dQ, dK and dV do
 * not matter. Grouped heads add up in dK and dV.
 */
void reference_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                        const float *dO, double *dQ, double *dK, double *dV);

/* The largest |dS| of query (b, h, i), of the keys that it sees. */
double reference_largest_dS(const struct attention *p, const float *Q, const float *K,
                            const float *V, const float *dO, size_t b, size_t h, size_t i);

/* Does query (b, h, i) attend to any of these keys? They are `count` rows of K. */
bool reference_attends_to_any(const struct attention *p, size_t b, size_t h, size_t i,
                              const size_t *rows, size_t count);

/* The row of dQ that belongs to query (b, h, i): d elements. */
void reference_backward_query(const struct attention *p, const float *Q, const float *K,
                              const float *V, const float *dO, size_t b, size_t h, size_t i,
                              double *dQ_i);

/*
 * The rows of dK and dV of `count` keys, which belong to one key/value head and come in order: rows[k] is
 * (b Hkv + g) Nk + j. O(Nq Nk d) for each query head of the group.
 */
void reference_backward_keys(const struct attention *p, const float *Q, const float *K,
                             const float *V, const float *dO, const size_t *rows, size_t count,
                             double *dK, double *dV);

#endif
