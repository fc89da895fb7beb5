/*
 * Parts of the reference (reference.h) that its two passes, rounding*.c and mistake.c share.
 */
#ifndef COMMON_REFERENCE_PARTS_H
#define COMMON_REFERENCE_PARTS_H

#include "common/problem/attention.h"

double reference_dot(const float *a, const float *b, size_t n);

/* Where row j of K, or of V, begins for query head h: an index of elements. */
size_t reference_key(const struct attention *p, size_t b, size_t h, size_t j);

/*
 * P[j] = softmax of the unmasked scores of query (b, h, i), 0 for the others. Returns the row's
 * lse, -inf for a query without keys. A score of -inf is as a masked one.
 */
double reference_probabilities(const struct attention *p, const float *Q, const float *K, size_t b,
                               size_t h, size_t i, double *P);

/*
 * P and the gradients of the dot products, dS times the slope of the score, of query (b, h, i) for
 * its visible keys.
 */
void reference_pairs(const struct attention *p, const float *Q, const float *K, const float *V,
                     const float *dO, size_t b, size_t h, size_t i, double *P, double *d_dot);

/* Z of the papers: 1/(1 - P) where dropout keeps the weight, else 0. */
double reference_dropout(const struct attention *p, size_t b, size_t h, size_t i, size_t j);

#endif
