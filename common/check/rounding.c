#include "common/check/rounding.h"

#include "common/check/reference.h"
#include "common/check/reference_parts.h"
#include "common/check/rounding_parts.h"
#include "common/cpu/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

// ---- one rounding, and a sum of many ------------------------------------------------------------

/* The spacing of numbers of this type at |x|. */
static double ulp(double x, enum dtype type)
{
    static const int lowest[DTYPES] = {
        [DTYPE_F32] = -149, [DTYPE_BF16] = -133, [DTYPE_F16] = -24
    };
    if (x == 0.0 || !isfinite(x))
        return ldexp(1.0, lowest[type]);
    const int exponent = ilogb(x) - ((type == DTYPE_F32 ? FLT_MANT_DIG : dtype_digits(type)) - 1);
    return ldexp(1.0, exponent > lowest[type] ? exponent : lowest[type]);
}

double rounding_of(double x, enum dtype type)
{
    return square(ulp(x, type)) / 12.0;
}

double rounding_lost(size_t n)
{
    const double most = 1e-3;
    return fmin((double)n * 0.5 * U, most);
}

double rounding_bias(double sum, size_t n, enum dtype type)
{
    const double of_type = type == DTYPE_F32 ? 0.0 : ldexp(1.0, -dtype_digits(type));
    return fabs(sum) * (4.0 * U + rounding_lost(n) + of_type) + (double)FLT_MIN;
}

/* Tensor cores round once for 16 terms. */
static double terms_at_once(enum dtype type)
{
    return type == DTYPE_F32 ? 1.0 : 16.0;
}

double rounding_of_sum(double sum, double squares, size_t n, enum dtype type)
{
    const double additions = (double)n / terms_at_once(type);
    return square(RMS) *
           (squares * (additions / 2.0 + 2.0) + square(sum) * (additions / 3.0 + 2.0));
}

double rounding_of_running(double sum, const struct running *r, size_t n, enum dtype type)
{
    return fmax(rounding_of_sum(sum, r->squares, n, type),
                square(RMS) * r->partial / terms_at_once(type));
}

struct exact rounding_stored(struct exact exact, enum dtype type)
{
    exact.sigma = sqrt(square(exact.sigma) + rounding_of(exact.value, type));
    return exact;
}

// ---- scores -------------------------------------------------------------------------------------

struct dot dot_of(const float *a, const float *b, size_t d)
{
    enum { LANES = 4 };  // independent sums, for instruction-level parallelism
    double x[LANES] = { 0.0 }, squares[LANES] = { 0.0 };
    size_t c = 0;
    for (; c + LANES <= d; c += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double term = (double)a[c + k] * (double)b[c + k];
            x[k] += term;
            squares[k] += term * term;
        }
    for (; c < d; c++) {
        const double term = (double)a[c] * (double)b[c];
        x[0] += term;
        squares[0] += term * term;
    }
    return (struct dot){ x[0] + x[1] + x[2] + x[3],
                         squares[0] + squares[1] + squares[2] + squares[3] };
}

struct key rounding_key(const struct attention *p, const float *Q, const float *K, size_t b,
                        size_t h, size_t i, size_t j)
{
    const size_t query = (b * p->H + h) * p->Nq + i;
    const size_t key = (b * p->Hkv + kv_head(p, h)) * p->Nk + j;
    const struct dot dot = dot_of(Q + query * p->d, K + key * p->d, p->d);
    const double of_dot = rounding_of_sum(dot.x, dot.squares, p->d, p->dtype);
    struct key k = { .j = j,
                     .dot = dot.x,
                     .score = score_of(p, b, h, i, j, dot.x),
                     .slope = (double)p->scale,
                     .of_slope = square(RMS * (double)p->scale) };
    if (score_option(p)) {
        // The slope depends on the dot product, and 1 - tanh^2 is rounded at 1.
        const double off = sqrt(of_dot) + 2.0 * RMS * fabs(dot.x);
        k.slope = score_slope(p, b, h, i, j, dot.x);
        k.of_slope = square(fmax(fabs(score_slope(p, b, h, i, j, dot.x + off) - k.slope),
                                 fabs(score_slope(p, b, h, i, j, dot.x - off) - k.slope))) +
                     square(3.0 * RMS * (double)p->scale);
    }
    // the dot product, its scale, and log2 e for kernels that use exp2
    k.variance = square(k.slope) * (of_dot + square(RMS * dot.x)) + 2.0 * square(RMS * k.score);
    return k;
}

struct scores_of_query rounding_scores(const struct attention *p, const float *Q, const float *K,
                                       size_t b, size_t h, size_t i)
{
    struct scores_of_query s = { .keys = allocate(p->Nk, sizeof *s.keys, "the scores of a query") };
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j)) {
            const struct key key = rounding_key(p, Q, K, b, h, i, j);
            if (key.score != (double)-INFINITY)
                s.keys[s.n++] = key;
        }
    for (size_t k = 0; k < s.n; k++)
        if (k == 0 || s.keys[k].score > s.m) {
            s.m = s.keys[k].score;
            s.of_m = s.keys[k].variance;
        }
    for (size_t k = 0; k < s.n; k++)
        s.l += exp(s.keys[k].score - s.m);
    return s;
}

double rounding_of_weight(double log_P, double variance, double of_m, double most)
{
    const double reach = exp(fmin(most, log_P + 4.0 * sqrt(variance + of_m)));
    return square(reach) * fmin(variance, 1.0);
}

// ---- a row of O, and its lse --------------------------------------------------------------------

/* By descending score; equal scores in the order of keys. */
static int by_score(const void *a, const void *b)
{
    const struct ranked_key *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->k > y->k) - (x->k < y->k);
}

struct ranked_key *rounding_by_score(const struct scores_of_query *s)
{
    struct ranked_key *sorted = allocate(s->n, sizeof *sorted, "keys by their scores");
    for (size_t k = 0; k < s->n; k++)
        sorted[k] = (struct ranked_key){ s->keys[k].score, k };
    qsort(sorted, s->n, sizeof *sorted, by_score);
    return sorted;
}

size_t rounding_near(const struct ranked_key *sorted, size_t n, double distance)
{
    size_t near = 1;
    while (near < n && sorted[0].score - sorted[near].score <= distance)
        near++;
    return near;
}

double rounding_near_score(enum dtype type)
{
    return type == DTYPE_F32 ? 0.0 : ldexp(1.0, -dtype_digits(type) - 1);
}

/* A row of O, and sums over its keys for each column. Z is dropout's factor. */
struct row {
    const struct attention *p;
    const float *V;
    size_t b, h, i;
    struct scores_of_query s;
    double *right;
    double *squares;  // of (Z V)^2 times the variance of a key's independent roundings
    double *shared;   // of Z V times a weight's variance because of its score
    double *lost;     // of |Z V| times what does not average out
    double *values;   // of Z V over keys with equal scores
    double *near,
        *apart;            // of `values` and of their squares, over keys whose weights round alike
    struct running *sums;  // the row of O, summed in the order of keys
    double all;            // `shared` for V = 1
    double of_lse;
};

/* A weight P that n keys share. `variance`: of its exponent; of_score and of_stored: of P. */
struct weight {
    double P, variance, of_score, of_stored;
    double lost;      // does not average out
    double tiny;      // e^{x - m} may underflow to 0, sooner with a lagging m
    double absorbed;  // a term below half an ulp of the sum may be lost
};

static struct weight weight_of(const struct row *r, const struct key *key, size_t n)
{
    const enum dtype type = r->p->dtype;
    const double x = key->score - r->s.m, e = exp(x), P = e / r->s.l;
    const double variance = key->variance + square(RMS) * (square(x) + 1.5);
    return (struct weight){
        .P = P,
        .variance = variance,
        .of_score = rounding_of_weight(x - log(r->s.l), variance, r->s.of_m, 0.0),
        .of_stored = type == DTYPE_F32 ? square(fmin(P, (double)FLT_MIN))
                                       : rounding_of(e, type) / square(r->s.l),
        .lost = 4.0 * U * P,
        .tiny = fmin(e, type == DTYPE_F16 ? 0x1p-25 : 0x1p-110) / r->s.l,
        .absorbed = e < U ? U * (double)n : 0.0,
    };
}

/* Adds the errors of key j: `variance` its own, of_score and `lost` those of its weight. */
static void add_key(struct row *r, size_t j, double variance, double of_score, double lost)
{
    const struct attention *p = r->p;
    const float *const v = r->V + j * p->d;
    const double Z = reference_dropout(p, r->b, r->h, r->i, j);
    double *restrict squares = r->squares, *restrict shared = r->shared, *restrict of = r->lost;
    for (size_t c = 0; c < p->d; c++) {
        const double value = Z * (double)v[c];
        squares[c] += variance * value * value;
        shared[c] += of_score * value;
        of[c] += lost * fabs(value);
    }
}

/*
 * Adds n keys of equal score and sums their values. They share one weight and its error, so they
 * count as one key.
 */
static void add_equal(struct row *r, const struct ranked_key *equal, size_t n)
{
    const struct attention *p = r->p;
    const struct weight w = weight_of(r, &r->s.keys[equal->k], n);
    r->all += w.of_score * square((double)n);
    r->of_lse += w.of_score * square((double)n) * fmax(1.0, w.variance);
    for (size_t c = 0; c < p->d; c++)
        r->values[c] = 0.0;
    for (size_t k = 0; k < n; k++) {
        const size_t j = r->s.keys[equal[k].k].j;
        add_key(r, j, 0.0, w.of_score * (double)n, w.lost);
        for (size_t c = 0; c < p->d; c++)
            r->values[c] += reference_dropout(p, r->b, r->h, r->i, j) * (double)r->V[j * p->d + c];
    }
    for (size_t c = 0; c < p->d; c++) {
        const double v = r->values[c], size = fabs(v);
        r->squares[c] += w.of_score * v * v;
        r->near[c] += v;
        r->apart[c] += v * v;
        r->lost[c] += fmax(w.tiny * size, fmin(w.P * size, w.absorbed * fabs(r->right[c])));
    }
}

/* Adds n keys whose scores are so close that their weights round alike. */
static void add_near(struct row *r, const struct ranked_key *near, size_t n)
{
    const struct weight w = weight_of(r, &r->s.keys[near->k], 1);
    if (n == 1 && w.absorbed == 0.0) {
        r->all += w.of_score;
        r->of_lse += w.of_score * fmax(1.0, w.variance);
        add_key(r, r->s.keys[near->k].j, w.of_score + w.of_stored, w.of_score, w.lost + w.tiny);
        return;
    }
    for (size_t c = 0; c < r->p->d; c++)
        r->near[c] = r->apart[c] = 0.0;
    for (size_t k = 0, equal; k < n; k += equal) {
        equal = rounding_near(near + k, n - k, 0.0);
        add_equal(r, near + k, equal);
    }
    for (size_t c = 0; c < r->p->d; c++)
        r->squares[c] += w.of_stored * fmax(square(r->near[c]), r->apart[c]);
}

/* O as a program computes it that adds key after key. */
static void sum_in_order(struct row *r)
{
    const struct attention *p = r->p;
    for (size_t k = 0; k < r->s.n; k++) {
        const struct key *const key = &r->s.keys[k];
        const double Z = reference_dropout(p, r->b, r->h, r->i, key->j);
        const double weight = Z * exp(key->score - r->s.m) / r->s.l;
        const float *const v = r->V + key->j * p->d;
        for (size_t c = 0; c < p->d; c++)
            running_add(&r->sums[c], weight * (double)v[c]);
    }
}

void rounding_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i, struct exact *lse_i)
{
    const size_t d = p->d;
    double *sums = allocate(7 * d, sizeof *sums, "sums over a row"), lse;
    struct row r = { .p = p,
                     .V = V + (b * p->Hkv + kv_head(p, h)) * p->Nk * d,
                     .b = b,
                     .h = h,
                     .i = i,
                     .s = rounding_scores(p, Q, K, b, h, i),
                     .right = sums,
                     .squares = sums + d,
                     .shared = sums + 2 * d,
                     .lost = sums + 3 * d,
                     .values = sums + 4 * d,
                     .near = sums + 5 * d,
                     .apart = sums + 6 * d,
                     .sums = allocate(d, sizeof *r.sums, "sums over a row") };
    struct ranked_key *const sorted = rounding_by_score(&r.s);
    for (size_t c = 0; c < 7 * d; c++)
        sums[c] = 0.0;
    for (size_t c = 0; c < d; c++)
        r.sums[c] = (struct running){ 0.0, 0.0, 0.0 };
    sum_in_order(&r);
    reference_forward_row(p, Q, K, V, b, h, i, r.right, &lse);
    for (size_t k = 0, n; k < r.s.n; k += n) {
        n = rounding_near(sorted + k, r.s.n - k, rounding_near_score(p->dtype));
        add_near(&r, sorted + k, n);
    }
    const double of_l = rounding_of_sum(1.0, 0.0, r.s.n, DTYPE_F32);
    for (size_t c = 0; c < d; c++) {
        const double O = r.right[c];
        // the expanded square of P (V - O)
        const double of_weights = r.squares[c] - 2.0 * O * r.shared[c] + O * O * r.all;
        O_i[c] = rounding_stored(
            (struct exact){
                .value = O,
                .sigma = sqrt(fmax(of_weights, 0.0) + of_l * square(O) +
                              rounding_of_running(O, &r.sums[c], r.s.n, p->dtype)),
                .bias = rounding_bias(O, r.s.n, p->dtype) + r.lost[c],
            },
            p->dtype);
    }
    if (lse_i)
        *lse_i = (struct exact){
            .value = lse,
            .sigma =
                sqrt(r.of_lse + of_l + square(RMS) * (2.0 * square(lse) + square(r.s.m) + 1.0)),
            .bias = rounding_lost(r.s.n) + 4.0 * U * fmax(1.0, fabs(lse)),
        };
    free(sums);
    free(r.sums);
    free(sorted);
    free(r.s.keys);
}
