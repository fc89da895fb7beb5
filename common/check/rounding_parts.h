/*
 * Shared by rounding*.c only. Functions return variances unless noted; of_x is the variance of x,
 * or because of x.
 */
#ifndef COMMON_ROUNDING_PARTS_H
#define COMMON_ROUNDING_PARTS_H

#include "common/check/rounding.h"

/* Unit roundoff of float32, and the largest root mean square error: just above a power of 2. */
static const double U = 0x1p-24, RMS = 0.6 * 0x1p-24;

static inline double square(double x)
{
    return x * x;
}

/* Rounding x to this type: uniform, up to half a unit in the last place. */
double rounding_of(double x, enum dtype type);

/*
 * Sums in float32 of terms times 1, 0.9, 0.8 and 0.7. Terms that are alike, or below half an ulp of
 * the sum, all round the same way, by an amount that depends on their bits.
 */
static const float LOSSY_SCALE[4] = { 1.0f, 0.9f, 0.8f, 0.7f };
struct lossy {
    float sum[4];
};

static inline void lossy_add(struct lossy *s, double term)
{
    for (int k = 0; k < 4; k++)
        s->sum[k] += LOSSY_SCALE[k] * (float)term;
}

enum { FEW = 256 };  // terms: their sum loses little, whatever they are

/* Not a variance: what these sums lost, or 0 if roundings at random, of this variance, explain it. */
double rounding_lost(const struct lossy *s, double exact, double variance);

/* The most that n additions can lose, relative to the sum. */
double rounding_most_lost(size_t n);

/* Not a variance: what does not average out in a sum of n terms with weights of this type. */
double rounding_bias(double sum, double lost, size_t n, enum dtype type);

/*
 * A float32 sum of n terms whose squares add up to `squares`. Partial sums grow like a random walk
 * or, with terms of one sign, evenly.
 */
double rounding_of_sum(double sum, double squares, size_t n, enum dtype type);

/*
 * A sum in the order of its terms: the larger of rounding_of_sum and the roundings of the partial
 * sums, whose squares add up to `partial`. In a ramp from -1 to 1 they grow large and cancel.
 */
double rounding_of_running(double sum, double squares, double partial, size_t n, enum dtype type);

/* x = a.b; `squares`: the sum of its squared terms. */
struct dot {
    double x, squares;
};
struct dot dot_of(const float *a, const float *b, size_t d);

/*
 * A visible key: its score, the score's variance, its slope d score / d dot, and dropout's factor
 * Z. rounding_scores adds the weight's exponential e = e^{score - m}, P = e / l, the variance of
 * the exponential's argument and, because of it, of P.
 */
struct key {
    size_t j;
    double Z, score, variance, dot, slope, of_slope, e, P, of_exponent, of_P;
    struct dot dP;  // for the gradients
};
struct key rounding_key(const struct attention *p, const float *Q, const float *K, size_t b,
                        size_t h, size_t i, size_t j);

/*
 * A query's keys in their order, and by descending score; their m and l, the variance of m, and
 * what l loses, relative to l. free() both arrays.
 */
struct scores_of_query {
    struct key *keys;
    const struct key **sorted;
    size_t n;
    double m, of_m, l, lost;
};
struct scores_of_query rounding_scores(const struct attention *p, const float *Q, const float *K,
                                       size_t b, size_t h, size_t i);

/*
 * The number of keys, of n sorted ones, whose weights round like the first one's. In float32,
 * where weights are not rounded again: whose scores are equal.
 */
size_t rounding_near(const struct key *const *sorted, size_t n, enum dtype type);

/*
 * A weight e^log_P with this variance of its score and `of_m` of the maximum. An error above 1 may
 * move the weight to anything up to e^most.
 */
double rounding_of_weight(double log_P, double variance, double of_m, double most);

#endif
