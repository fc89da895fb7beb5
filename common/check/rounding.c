#include "common/check/rounding.h"

#include "common/check/reference.h"
#include "common/check/rounding_parts.h"
#include "common/cpu/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

// ---- one rounding, and a sum of many --------------------------------------------------------------

/* The distance from |x| to the next number of this type. */
static double ulp(double x, enum dtype type)
{
    static const int lowest[DTYPES] = {
        [DTYPE_F32] = -149, [DTYPE_BF16] = -133, [DTYPE_F16] = -24
    };
    if (x == 0.0 || !isfinite(x))
        return ldexp(1.0, lowest[type]);
    const int exponent = ilogb(x) - (dtype_digits(type) - 1);
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

double rounding_of_sum(double sum, double squares, size_t n, enum dtype type)
{
    const double additions = (double)n / (type == DTYPE_F32 ? 1.0 : 16.0);
    return square(RMS) *
           (squares * (additions / 2.0 + 2.0) + square(sum) * (additions / 3.0 + 2.0));
}

struct exact rounding_stored(struct exact exact, enum dtype type)
{
    exact.sigma = sqrt(square(exact.sigma) + rounding_of(exact.value, type));
    return exact;
}

struct exact rounding_between(struct exact exact, float other)
{
    return (struct exact){ (double)other, sqrt(2.0) * exact.sigma, 2.0 * exact.bias };
}

// ---- softmax ------------------------------------------------------------------------------------

void rounding_softmax(const float *x, struct exact *y, size_t rows, size_t cols)
{
    double *right = allocate(cols, sizeof *right, "the reference");
    for (size_t i = 0; i < rows; i++) {
        const float *const xi = x + i * cols;
        double m = (double)-INFINITY;
        for (size_t j = 0; j < cols; j++)
            m = fmax(m, (double)xi[j]);
        reference_softmax(xi, right, 1, cols);
        const double of_l = rounding_of_sum(1.0, 0.0, cols, DTYPE_F32);
        for (size_t j = 0; j < cols; j++) {
            // x - m, its exponential, the division
            const double own = square((double)xi[j] - m) + 3.0;
            y[i * cols + j] = (struct exact){
                .value = right[j],
                .sigma = fabs(right[j]) * sqrt(of_l + square(RMS) * own),
                .bias = rounding_bias(right[j], cols, DTYPE_F32),
            };
        }
    }
    free(right);
}

// ---- scores -------------------------------------------------------------------------------------

struct dot dot_of(const float *a, const float *b, size_t d)
{
    enum { LANES = 4 };  // sums that the processor can add at the same time
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

static struct key key_of(const struct attention *p, const float *Q, const float *K, size_t b,
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
        // The slope changes with the dot product, and 1 - tanh^2 is rounded at 1.
        const double off = sqrt(of_dot) + 2.0 * RMS * fabs(dot.x);
        k.slope = score_slope(p, b, h, i, j, dot.x);
        k.of_slope = square(fmax(fabs(score_slope(p, b, h, i, j, dot.x + off) - k.slope),
                                 fabs(score_slope(p, b, h, i, j, dot.x - off) - k.slope))) +
                     square(3.0 * RMS * (double)p->scale);
    }
    // the dot product, its scale, and the factor log2 e where exponentials are powers of 2
    k.variance = square(k.slope) * (of_dot + square(RMS * dot.x)) + 2.0 * square(RMS * k.score);
    return k;
}

struct scores_of_query rounding_scores(const struct attention *p, const float *Q, const float *K,
                                       size_t b, size_t h, size_t i)
{
    struct scores_of_query s = { .keys = allocate(p->Nk, sizeof *s.keys, "the scores of a query") };
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j)) {
            const struct key key = key_of(p, Q, K, b, h, i, j);
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

double rounding_dropout(const struct attention *p, size_t b, size_t h, size_t i, size_t j)
{
    return dropout_keeps(p, b, h, i, j) ? 1.0 / (1.0 - p->dropout) : 0.0;
}

// ---- a row of O, and its lse --------------------------------------------------------------------

/* Sums over the keys of a row, for each column. */
struct columns {
    double *values;     // of Z V over keys that have the same score
    double *products;   // of (P Z V)^2
    double *of_stored;  // of (Z V)^2 times the variance of storing a weight
    double *of_scores;  // of (Z V)^2 times the variance of a weight because of its score …
    double *shared;     // … and of Z V times that variance
    double *lost;       // of |Z V| times what does not average out of a weight
};

/* By score; keys with one score in their order. */
static int by_score(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->j > y->j) - (x->j < y->j);
}

/* Adds Z V of keys[0 … n-1], which have one score and so the weight P, to three of the sums. */
static void add_values(const struct attention *p, const float *V, size_t b, size_t h, size_t i,
                       const struct key *keys, size_t n, double P, struct columns *of)
{
    for (size_t c = 0; c < p->d; c++)
        of->values[c] = 0.0;
    for (size_t k = 0; k < n; k++) {
        const float *const v = V + ((b * p->Hkv + kv_head(p, h)) * p->Nk + keys[k].j) * p->d;
        const double Z = rounding_dropout(p, b, h, i, keys[k].j);
        for (size_t c = 0; c < p->d; c++) {
            of->values[c] += Z * (double)v[c];
            of->products[c] += square(P * Z * (double)v[c]);
            of->lost[c] += 4.0 * U * P * Z * fabs((double)v[c]);
        }
    }
}

void rounding_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i, struct exact *lse_i)
{
    const size_t d = p->d;
    struct scores_of_query s = rounding_scores(p, Q, K, b, h, i);
    double *right = allocate(d, sizeof *right, "a row of O"), lse, all = 0.0, of_lse = 0.0;
    double *sums = allocate(6 * d, sizeof *sums, "sums over a row");
    struct columns of = { sums, sums + d, sums + 2 * d, sums + 3 * d, sums + 4 * d, sums + 5 * d };
    for (size_t c = 0; c < 6 * d; c++)
        sums[c] = 0.0;
    reference_forward_row(p, Q, K, V, b, h, i, right, &lse);
    qsort(s.keys, s.n, sizeof *s.keys, by_score);
    // Keys with the same score have the same weight, and it is rounded alike for all of them: they count as one key.
    for (size_t k = 0, n; k < s.n; k += n) {
        const struct key *const key = &s.keys[k];
        const double e = exp(key->score - s.m), P = e / s.l, log_P = key->score - s.m - log(s.l);
        for (n = 1; k + n < s.n && key[n].score == key->score;)
            n++;
        add_values(p, V, b, h, i, key, n, P, &of);
        const double of_exp = square(RMS) * (square(key->score - s.m) + 1.5);
        const double of_score = rounding_of_weight(log_P, key->variance + of_exp, s.of_m, 0.0);
        const double of_stored = p->dtype == DTYPE_F32 ? square((double)FLT_MIN)
                                                       : rounding_of(e, p->dtype) / square(s.l);
        // What is below half a unit in the last place of a sum may vanish in it; in float16 a small weight vanishes itself.
        const double tiny = p->dtype == DTYPE_F16 ? fmin(e, 0x1p-25) / s.l : 0.0;
        const double absorbed = e < U ? U * (double)n : 0.0;
        for (size_t c = 0; c < d; c++) {
            const double v = of.values[c];
            of.of_stored[c] += of_stored * v * v;
            of.of_scores[c] += of_score * v * v;
            of.shared[c] += of_score * (double)n * v;
            of.lost[c] += fmax(tiny * fabs(v), fmin(P * fabs(v), absorbed * fabs(right[c])));
        }
        all += of_score * square((double)n);
        of_lse += of_score * square((double)n) * fmax(1.0, key->variance + of_exp);
    }
    const double of_l = rounding_of_sum(1.0, 0.0, s.n, DTYPE_F32);
    for (size_t c = 0; c < d; c++) {
        const double O = right[c];
        // of P (V - O), squared out
        const double of_scores = of.of_scores[c] - 2.0 * O * of.shared[c] + O * O * all;
        O_i[c] = rounding_stored(
            (struct exact){
                .value = O,
                .sigma = sqrt(fmax(of_scores, 0.0) + of.of_stored[c] + of_l * square(O) +
                              rounding_of_sum(O, of.products[c], s.n, p->dtype)),
                .bias = rounding_bias(O, s.n, p->dtype) + of.lost[c],
            },
            p->dtype);
    }
    if (lse_i)
        *lse_i = (struct exact){
            .value = lse,
            .sigma = sqrt(of_lse + of_l + square(RMS) * (2.0 * square(lse) + square(s.m) + 1.0)),
            .bias = rounding_lost(s.n) + 4.0 * U * fmax(1.0, fabs(lse)),
        };
    free(sums);
    free(right);
    free(s.keys);
}

void rounding_product_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i)
{
    const size_t d = p->d;
    double *sums = allocate(3 * d, sizeof *sums, "sums over a row");
    for (size_t c = 0; c < 3 * d; c++)
        sums[c] = 0.0;
    for (size_t j = 0; j < p->Nk; j++) {
        const struct key key = key_of(p, Q, K, b, h, i, j);
        const float *const v = V + ((b * p->Hkv + kv_head(p, h)) * p->Nk + j) * d;
        for (size_t c = 0; c < d; c++) {
            sums[c] += key.score * (double)v[c];
            sums[d + c] += square(key.score * (double)v[c]);
            sums[2 * d + c] += key.variance * square((double)v[c]);
        }
    }
    for (size_t c = 0; c < d; c++)
        O_i[c] = (struct exact){
            .value = sums[c],
            .sigma = sqrt(sums[2 * d + c] + rounding_of_sum(sums[c], sums[d + c], p->Nk, p->dtype)),
            .bias = rounding_bias(sums[c], p->Nk, p->dtype),
        };
    free(sums);
}
