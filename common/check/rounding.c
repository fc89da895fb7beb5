#include "common/check/rounding.h"

#include "common/check/reference.h"
#include "common/check/reference_parts.h"
#include "common/check/rounding_parts.h"
#include "common/cpu/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- one rounding, and a sum of many ------------------------------------------------------------

/* The spacing of numbers of this type at |x|. */
static double ulp(double x, enum dtype type)
{
    static const int lowest[DTYPES] = { -149, -133, -24 };  // of float32, bfloat16, float16
    if (x == 0.0 || !isfinite(x))
        return ldexp(1.0, lowest[type]);
    const int exponent = ilogb(x) - ((type == DTYPE_F32 ? FLT_MANT_DIG : dtype_digits(type)) - 1);
    return ldexp(1.0, exponent > lowest[type] ? exponent : lowest[type]);
}

double rounding_of(double x, enum dtype type)
{
    return square(ulp(x, type)) / 12.0;
}

double rounding_lost(const struct lossy *s, double exact, double variance)
{
    double lost = 0.0;
    for (int k = 0; k < 4; k++) {
        const double off = fabs((double)s->sum[k] / (double)LOSSY_SCALE[k] - exact);
        lost = off > lost ? off : lost;  // with fmax gcc 12 crashes on aarch64
    }
    return lost > 4.0 * sqrt(variance) ? 2.0 * lost : 0.0;
}

double rounding_most_lost(size_t n)
{
    return fmin((double)n * U, 1e-3);
}

double rounding_bias(double sum, double lost, size_t n, enum dtype type)
{
    const double of_type = type == DTYPE_F32 ? 0.0 : ldexp(1.0, -dtype_digits(type));
    const double of_few = 0.5 * rounding_most_lost(n < FEW ? n : FEW);
    const double alike = fmin(lost, fabs(sum) * (rounding_most_lost(n) - of_few));
    return fabs(sum) * (4.0 * U + of_type + of_few) + (n > FEW ? alike : 0.0) + (double)FLT_MIN;
}

/* Tensor cores round once for 16 terms. */
static const double AT_ONCE[DTYPES] = { 1.0, 16.0, 16.0 };

double rounding_of_sum(double sum, double squares, size_t n, enum dtype type)
{
    const double additions = (double)n / AT_ONCE[type];
    return square(RMS) *
           (squares * (additions / 2.0 + 2.0) + square(sum) * (additions / 3.0 + 2.0));
}

double rounding_of_running(double sum, double squares, double partial, size_t n, enum dtype type)
{
    return fmax(rounding_of_sum(sum, squares, n, type), square(RMS) * partial / AT_ONCE[type]);
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
    for (size_t c = 0; c < d; c++) {
        const size_t k = c < d - d % LANES ? c % LANES : 0;
        const double term = (double)a[c] * (double)b[c];
        x[k] += term;
        squares[k] += term * term;
    }
    return (struct dot){ x[0] + x[1] + x[2] + x[3],
                         squares[0] + squares[1] + squares[2] + squares[3] };
}

struct key rounding_key(const struct attention *p, const float *Q, const float *K, size_t b,
                        size_t h, size_t i, size_t j)
{
    const float *const q = Q + ((b * p->H + h) * p->Nq + i) * p->d;
    const struct dot dot = dot_of(q, K + reference_key(p, b, h, j), p->d);
    const double of_dot = rounding_of_sum(dot.x, dot.squares, p->d, p->dtype);
    struct key k = { .j = j,
                     .Z = reference_dropout(p, b, h, i, j),
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

/* By descending score, equal ones in their order. */
static int by_score(const void *a, const void *b)
{
    const struct key *x = *(const struct key *const *)a, *y = *(const struct key *const *)b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->j > y->j) - (x->j < y->j);
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
    size_t rises = 0;
    for (size_t k = 0; k < s.n; k++)
        if (k == 0 || s.keys[k].score > s.m) {
            s.m = s.keys[k].score;
            s.of_m = s.keys[k].variance;
            rises++;
        }
    s.sorted = allocate(s.n, sizeof(void *), "keys by their scores");
    for (size_t k = 0; k < s.n; k++) {
        s.keys[k].e = exp(s.keys[k].score - s.m);
        s.l += s.keys[k].e;
        s.sorted[k] = &s.keys[k];
    }
    qsort(s.sorted, s.n, sizeof(void *), by_score);
    struct lossy l = { { 0.0f } };  // the largest terms first, where most is lost
    for (size_t k = 0; k < s.n; k++)
        lossy_add(&l, s.sorted[k]->e);
    for (struct key *k = s.keys; k < s.keys + s.n; k++) {
        const double x = k->score - s.m;
        k->P = k->e / s.l;
        k->of_exponent = k->variance + square(RMS) * (square(x) + 1.5);
        k->of_P = rounding_of_weight(x - log(s.l), k->of_exponent, s.of_m, 0.0);
    }
    // When m rises, l is rescaled; evenly rising scores give factors that round the same way.
    if (s.n > 0)
        s.lost = fmin(rounding_lost(&l, s.l, rounding_of_sum(s.l, 0.0, s.n, DTYPE_F32)) / s.l +
                          (s.n > FEW ? 0.5 * U * (double)rises : 0.0),
                      rounding_most_lost(s.n));
    return s;
}

double rounding_of_weight(double log_P, double variance, double of_m, double most)
{
    const double reach = exp(fmin(most, log_P + 4.0 * sqrt(variance + of_m)));
    return square(reach) * fmin(variance, 1.0);
}

// ---- a row of O, and its lse --------------------------------------------------------------------

size_t rounding_near(const struct key *const *sorted, size_t n, enum dtype type)
{
    const double distance = type == DTYPE_F32 ? 0.0 : ldexp(1.0, -dtype_digits(type) - 1);
    size_t near = 1;
    while (near < n && sorted[0]->score - sorted[near]->score <= distance)
        near++;
    return near;
}

/* A row of O, and sums over its keys, d of each. Z is dropout's factor. */
struct columns {
    double *O;             // the reference's
    double *squares;       // of (Z V)^2 times the variance of a key's independent roundings
    double *shared;        // of Z V times a weight's variance because of its score
    double *lost;          // of |Z V| times what does not average out
    double *value;         // of Z V over keys with equal scores
    double *near, *apart;  // of `value` and of its square, over keys whose weights round alike
    double *sum, *sum_squares, *partial;  // O, summed in the order of keys
    struct lossy *lossy;                  // the same by descending score
};

static struct columns columns_of(size_t d)
{
    double *const x = memset(allocate(10 * d, sizeof *x, "sums of a row"), 0, 10 * d * sizeof *x);
    struct lossy *const lossy = memset(allocate(d, sizeof *lossy, "sums"), 0, d * sizeof *lossy);
    return (struct columns){ x,         x + d,     x + 2 * d, x + 3 * d, x + 4 * d, x + 5 * d,
                             x + 6 * d, x + 7 * d, x + 8 * d, x + 9 * d, lossy };
}

struct row {
    const struct attention *p;
    const float *V;
    struct scores_of_query s;
    struct columns of;
    double all, of_lse;  // `shared` for V = 1; the variance of lse
};

/* n keys with this weight, and its error, count as one key. */
static void add_weight(struct row *r, const struct key *key, size_t n)
{
    const double of_weight = key->of_P * square((double)n);
    r->all += of_weight;
    r->of_lse += of_weight * fmax(1.0, key->of_exponent);
}

/* Adds the errors of a key: `variance` its own, of_P and `lost` those of its weight. */
static void add_key(struct row *r, const struct key *key, double variance, double of_P, double lost)
{
    const struct columns of = r->of;
    const float *const v = r->V + key->j * r->p->d;
    for (size_t c = 0; c < r->p->d; c++) {
        const double value = key->Z * (double)v[c];
        of.squares[c] += variance * value * value;
        of.shared[c] += of_P * value;
        of.lost[c] += lost * fabs(value);
        of.value[c] += value;
    }
    for (size_t c = 0; c < (r->s.n > FEW ? r->p->d : 0); c++)
        lossy_add(&of.lossy[c], key->P * (key->Z * (double)v[c]));
}

/* Adds a key's term to O, in the order of keys. */
static void add_in_order(struct row *r, const struct key *key)
{
    const struct columns of = r->of;
    const float *const v = r->V + key->j * r->p->d;
    const double weight = key->Z * key->e / r->s.l;
    for (size_t c = 0; c < r->p->d; c++) {
        const double term = weight * (double)v[c];
        of.sum[c] += term;
        of.sum_squares[c] += square(term);
        of.partial[c] += square(of.sum[c]);
    }
}

/* e^{x - m} may underflow to 0, sooner with a lagging m. */
static double lost_to_underflow(const struct row *r, const struct key *key)
{
    return fmin(key->e, r->p->dtype == DTYPE_F16 ? 0x1p-25 : 0x1p-110) / r->s.l;
}

/* Adds n keys of equal score. */
static void add_equal(struct row *r, const struct key *const *equal, size_t n)
{
    const struct key *const key = equal[0];
    const struct columns *const of = &r->of;
    const double tiny = lost_to_underflow(r, key);
    const double absorbed = key->e < U ? U * (double)n : 0.0;  // terms below half an ulp of l
    add_weight(r, key, n);
    memset(of->value, 0, r->p->d * sizeof *of->value);
    for (size_t k = 0; k < n; k++)
        add_key(r, equal[k], 0.0, key->of_P * (double)n, 4.0 * U * key->P);
    for (size_t c = 0; c < r->p->d; c++) {
        const double v = of->value[c], size = fabs(v);
        of->squares[c] += key->of_P * v * v;
        of->near[c] += v;
        of->apart[c] += v * v;
        of->lost[c] += fmax(tiny * size, fmin(key->P * size, absorbed * fabs(of->O[c])));
    }
}

/* Adds n keys whose scores are so close that their weights round alike. */
static void add_near(struct row *r, const struct key *const *near, size_t n)
{
    const struct key *const key = near[0];
    const double of_stored = r->p->dtype == DTYPE_F32
                                 ? square(fmin(key->P, (double)FLT_MIN))
                                 : rounding_of(key->e, r->p->dtype) / square(r->s.l);
    if (n == 1 && !(key->e < U)) {
        add_weight(r, key, 1);
        add_key(r, key, key->of_P + of_stored, key->of_P,
                4.0 * U * key->P + lost_to_underflow(r, key));
        return;
    }
    memset(r->of.near, 0, 2 * r->p->d * sizeof *r->of.near);  // and r->of.apart
    for (size_t k = 0, equal; k < n; k += equal) {
        equal = rounding_near(near + k, n - k, DTYPE_F32);
        add_equal(r, near + k, equal);
    }
    for (size_t c = 0; c < r->p->d; c++)
        r->of.squares[c] += of_stored * fmax(square(r->of.near[c]), r->of.apart[c]);
}

void rounding_forward_row(const struct attention *p, const float *Q, const float *K, const float *V,
                          size_t b, size_t h, size_t i, struct exact *O_i, struct exact *lse_i)
{
    double lse;
    struct row r = { .p = p,
                     .V = V + reference_key(p, b, h, 0),
                     .s = rounding_scores(p, Q, K, b, h, i),
                     .of = columns_of(p->d) };
    const size_t n = r.s.n;
    reference_forward_row(p, Q, K, V, b, h, i, r.of.O, &lse);
    for (const struct key *k = r.s.keys; k < r.s.keys + n; k++)
        add_in_order(&r, k);
    for (size_t k = 0, near; k < n; k += near) {
        near = rounding_near(r.s.sorted + k, n - k, p->dtype);
        add_near(&r, r.s.sorted + k, near);
    }
    const double of_l = rounding_of_sum(1.0, 0.0, n, DTYPE_F32);
    for (size_t c = 0; c < p->d; c++) {
        const double O = r.of.O[c];
        // the expanded square of P (V - O)
        const double of_weights = r.of.squares[c] - 2.0 * O * r.of.shared[c] + O * O * r.all;
        const double of_sum =
            rounding_of_running(O, r.of.sum_squares[c], r.of.partial[c], n, p->dtype);
        const double sigma = sqrt(fmax(of_weights, 0.0) + of_l * square(O) + of_sum);
        const double lost = fabs(O) * r.s.lost + rounding_lost(&r.of.lossy[c], O, of_sum);
        const double bias = rounding_bias(O, lost, n, p->dtype) + r.of.lost[c];
        *O_i++ = rounding_stored((struct exact){ O, sigma, bias }, p->dtype);
    }
    if (lse_i)
        *lse_i = (struct exact){
            .value = lse,
            .sigma =
                sqrt(r.of_lse + of_l + square(RMS) * (2.0 * square(lse) + square(r.s.m) + 1.0)),
            .bias =
                rounding_bias(1.0, r.s.lost, n, DTYPE_F32) + 4.0 * U * fmax(0.0, fabs(lse) - 1.0),
        };
    free(r.of.O);
    free(r.of.lossy);
    free(r.s.sorted);
    free(r.s.keys);
}
