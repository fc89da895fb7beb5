/*
 * What the roundings of the forward and of the backward pass have in common. Variances, unless they say otherwise.
 */
#ifndef COMMON_ROUNDING_PARTS_H
#define COMMON_ROUNDING_PARTS_H

#include "common/check/rounding.h"

/* The largest relative error of one rounding to float32, and its root mean square where that is largest: above a power of 2. */
static const double U = 0x1p-24, RMS = 0.6 * 0x1p-24;

static inline double square(double x)
{
    return x * x;
}

/* Of storing x in this type: an error between -1/2 and 1/2 unit in the last place. */
double rounding_of(double x, enum dtype type);

/* Not a variance: what n additions one after the other may lose, as a part of the sum. */
double rounding_lost(size_t n);

/* Not a variance: what does not average out of a sum of n terms whose weights were rounded to this type. */
double rounding_bias(double sum, size_t n, enum dtype type);

/*
 * Of a sum of n terms in float32. `squares` is the sum of their squares: partial sums are as large as a random walk,
 * or, where all terms have one sign, grow evenly to the sum.
 */
double rounding_of_sum(double sum, double squares, size_t n, enum dtype type);

/*
 * A sum in the order of its terms. Where they are ordered, as in a ramp from -1 to 1, partial sums grow large and cancel
 * out: `partial` is the sum of their squares.
 */
struct running {
    double sum, squares, partial;
};

static inline void running_add(struct running *r, double term)
{
    r->sum += term;
    r->squares += square(term);
    r->partial += square(r->sum);
}

/* Of such a sum, whose result is `sum`: what is larger, the above or the roundings of its partial sums. */
double rounding_of_running(double sum, const struct running *r, size_t n, enum dtype type);

/* A dot product, and the sum of the squares of its terms. */
struct dot {
    double x, squares;
};
struct dot dot_of(const float *a, const float *b, size_t d);

/* A key that a query attends to: its score, and how far off that is. */
struct key {
    size_t j;
    double score, variance, dot, slope, of_slope;
};
struct key rounding_key(const struct attention *p, const float *Q, const float *K, size_t b,
                        size_t h, size_t i, size_t j);

/* A row of scores with m and l of it, and the variance of the largest. Weights are e^{score - m} / l. free() keys. */
struct scores_of_query {
    struct key *keys;
    size_t n;
    double m, of_m, l;
};
struct scores_of_query rounding_scores(const struct attention *p, const float *Q, const float *K,
                                       size_t b, size_t h, size_t i);

/* Key k of a query, to be sorted. free() the sorted ones, of which the first has the largest score. */
struct place {
    double score;
    size_t k;
};
struct place *rounding_by_score(const struct scores_of_query *s);

/* How many of n sorted keys have a score that is no farther than this from the first one's? */
size_t rounding_near(const struct place *sorted, size_t n, double distance);

/* Weights of scores so near are rounded to this type alike. In float32 they are not rounded again. */
double rounding_near_score(enum dtype type);

/*
 * Of a weight e^log_P whose score has this variance, and that of the largest score is `of_m`. Where rounding moves a score
 * by more than 1, its weight may be anything up to what the score could become, which is at most e^most.
 */
double rounding_of_weight(double log_P, double variance, double of_m, double most);

/* Z of the papers: 1/(1 - P) where dropout keeps the weight, else 0. */
double rounding_dropout(const struct attention *p, size_t b, size_t h, size_t i, size_t j);

#endif
