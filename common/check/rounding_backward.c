/*
 * The gradients. With P = e^{S - lse}, dP = Z dO V^T, D = sum_j P dP and dS = P (dP - D):
 *
 *     dQ = dS' K        dK = dS'^T Q        dV = (P Z)^T dO        dS' = dS times the slope of the score
 *
 * A pair's own roundings are independent. A query's row shares those of lse and D: they average out
 * in dK and dV, but not in dQ.
 */
#include "common/check/reference_parts.h"
#include "common/check/rounding_parts.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/progress.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The rounding of numbers stored in 16 bits: its variance if it is random, and the actual change.
 * Nearly equal numbers round alike, so the change of a sum may exceed what the variance explains.
 */
struct stored {
    double variance, change;
};

static struct stored stored_as(double x, enum dtype type)
{
    if (type == DTYPE_F32)
        return (struct stored){ 0.0, 0.0 };
    const double rounded = (double)dtype_round(type, (float)x);
    return (struct stored){ rounding_of(x, type), isfinite(rounded) ? rounded - x : 0.0 };
}

static void stored_add(struct stored *sum, struct stored x, double factor)
{
    sum->variance += square(factor) * x.variance;
    sum->change += factor * x.change;
}

static double stored_variance(struct stored x)
{
    return fmax(x.variance, square(x.change));
}

/* A query and one of its keys; variances exclude what the row shares. */
struct pair {
    size_t j;
    double weight, of_weight;           // P Z; because of the score
    double gradient, of_gradient;       // dS'; because of the score
    double of_dP;                       // of dP - D
    double by_D;                        // P times the slope: D's error moves dS' by -by_D times it
    double lost_weight, lost_gradient;  // does not average out
    struct stored stored_weight, stored_gradient;
};

/*
 * A query's pairs, and the variances that they share. `lost`: what l loses, not a variance.
 */
struct pairs {
    struct pair *of;
    size_t n;
    double of_lse, of_D, lost;
    struct stored stored_D;
    double *P, *d_dot;  // the reference's, of all keys
};

static struct pair pair_of(const struct attention *p, const struct key *key, double D, double lse,
                           const struct pairs *shared)
{
    const bool is_f32 = p->dtype == DTYPE_F32;
    const struct dot dP = key->dP;
    const double Z = key->Z,
                 least = (double)FLT_MIN;  // smaller numbers have fewer digits, or vanish
    const double P = exp(key->score - lse), dS = P * (dP.x - D), weight = P * Z;
    // S - lse is rounded at the size of both, and P is its exponential
    const double of_exponent =
        square(RMS) * (square(key->score - lse) + square(key->score) + square(lse) + 1.5);
    // P may exceed 1 here, if lse is far off.
    const double of_P = rounding_of_weight(key->score - lse, key->variance + of_exponent,
                                           shared->of_lse, log((double)FLT_MAX)) +
                        square(fmin(P, least));
    const double of_dP = rounding_of_sum(dP.x, dP.squares, p->d, p->dtype);
    const double of_difference = of_dP + square(RMS) * (2.0 * square(dP.x) + square(D));
    // P is rounded before or after dropout's factor; small float16 lose more before
    struct stored before = { 0.0, 0.0 }, after = stored_as(weight, p->dtype);
    stored_add(&before, stored_as(P, p->dtype), Z);
    struct stored stored_gradient = { 0.0, 0.0 };
    stored_add(&stored_gradient, stored_as(dS, p->dtype), key->slope);
    return (struct pair){
        .j = key->j,
        .weight = weight,
        .of_weight = square(Z) * of_P + (is_f32 ? square(2.0 * RMS * weight) : 0.0),
        .gradient = key->slope * dS,
        .of_gradient = square(key->slope) * of_P * square(dP.x - D) + square(dS) * key->of_slope,
        .of_dP = square(key->slope) *
                 (square(P) * of_difference + (is_f32 ? square(2.0 * RMS * dS) : 0.0)),
        .by_D = key->slope * P,
        .lost_weight = (4.0 * U + shared->lost) * weight + Z * fmin(P, least),
        .lost_gradient = fabs(key->slope) * (4.0 * U * fabs(dS) + fmin(fabs(dS), least) +
                                             fmin(P, least) * fabs(dP.x - D) +
                                             shared->lost * (fabs(dS) + P * fabs(D))),
        .stored_weight = stored_variance(before) > stored_variance(after) ? before : after,
        .stored_gradient = stored_gradient,
    };
}

// ---- rows that are alike ------------------------------------------------------------------------

struct hashed {
    uint64_t hash;
    size_t row;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static uint64_t hash_of(const float *x, size_t n)
{
    uint64_t hash = 1;
    for (size_t k = 0; k < n; k++) {
        uint32_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 32;
    }
    return hash;
}

/*
 * For each of n rows: the number of rows with the same elements in x and, unless it is NULL, in y.
 * They round alike, so their errors may add up. free() it.
 */
static double *alike_of(const float *x, const float *y, size_t n, size_t d)
{
    struct hashed *rows = allocate(n, sizeof *rows, "rows that are alike");
    double *alike = allocate(n, sizeof *alike, "rows that are alike");
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct hashed){
            hash_of(x + i * d, d) + (y ? 0x9E3779B97F4A7C15 * hash_of(y + i * d, d) : 0), i
        };
    qsort(rows, n, sizeof *rows, by_hash);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && rows[end].hash == rows[first].hash;)
            end++;
        for (size_t i = first; i < end; i++)
            alike[rows[i].row] = (double)(end - first);
    }
    free(rows);
    return alike;
}

// ---- D, and the pairs of a query ----------------------------------------------------------------

/*
 * An element of O summed in the order of keys: its last term, and what runs of equal terms may
 * lose.
 */
struct element {
    double sum, squares, partial, last, lost;
};

static void element_add(struct element *O, double term)
{
    O->sum += term;
    O->squares += square(term);
    O->partial += square(O->sum);
    const double half = U * fabs(O->sum);
    if (fabs(term - O->last) <= half)
        O->lost += 0.5 * half;
    O->last = term;
}

/*
 * The variance of D because of weights stored in 16 bits: nearly equal ones round alike. In float32
 * the sum l of equal weights may lose half an ulp at each addition: *lost, relative to l.
 */
static double of_near_weights(const struct scores_of_query *s, enum dtype type, double *lost)
{
    const struct key *const *const sorted = s->sorted;
    double variance = 0.0;
    size_t equal = 0;
    for (size_t first = 0, n; first < s->n; first += n) {
        double sum = 0.0, squares = 0.0;
        n = rounding_near(sorted + first, s->n - first, type);
        equal += n > 1 ? n : 0;
        for (size_t k = first; k < first + n; k++) {
            sum += sorted[k]->dP.x;
            squares += square(sorted[k]->dP.x);
        }
        variance += rounding_of(sorted[first]->e, type) / square(s->l) * fmax(square(sum), squares);
    }
    *lost = type == DTYPE_F32 && equal > 0
                ? 0.5 * rounding_most_lost(s->n) * (double)equal / (double)s->n
                : 0.0;
    return type == DTYPE_F32 ? 0.0 : variance;
}

/*
 * The variance of D = dO O for a stored O: the errors of its weights and elements. *stored is D's
 * change by storing O in 16 bits.
 */
static double of_D(const struct attention *p, const struct scores_of_query *s, const float *dO_i,
                   const struct element *O, double D, struct stored *stored)
{
    double lost, variance = of_near_weights(s, p->dtype, &lost);
    variance += rounding_of_sum(1.0, 0.0, s->n, DTYPE_F32) * square(D);  // of l
    lost *= fabs(D);
    for (const struct key *k = s->keys; k < s->keys + s->n; k++) {
        variance += k->of_P * square(k->dP.x - D);
        lost += fmin(k->P, (double)FLT_MIN) * fabs(k->dP.x - D);
        if (p->dtype == DTYPE_F16 && k->e < 0x1p-25)
            lost += k->P * fabs(k->dP.x);
    }
    // Equal columns of V make equal elements with equal errors.
    float *elements = allocate(p->d, sizeof *elements, "a row of O");
    for (size_t c = 0; c < p->d; c++)
        elements[c] = (float)O[c].sum;
    double *alike = alike_of(elements, NULL, p->d, 1);
    *stored = (struct stored){ 0.0, 0.0 };
    double squares = 0.0, together = 0.0;
    for (size_t c = 0; c < p->d; c++) {
        const double x = (double)dO_i[c], value = O[c].sum;
        const double of_sum =
            rounding_of_running(value, O[c].squares, O[c].partial, s->n, DTYPE_F32);
        const double of_f32 = p->dtype == DTYPE_F32 ? rounding_of(value, DTYPE_F32) : 0.0;
        variance += alike[c] * square(x) * (of_sum + of_f32);
        stored_add(stored, stored_as(value, p->dtype), x);
        squares += square(x * value);
        together += alike[c] * square(x * value);
        lost += fabs(x) * O[c].lost;
    }
    if (squares > 0.0)
        variance += together / squares * rounding_of_sum(D, squares, p->d, DTYPE_F32);
    free(alike);
    free(elements);
    return variance + square(lost);
}

static struct pairs pairs_of(const struct attention *p, const float *Q, const float *K,
                             const float *V, const float *dO, size_t b, size_t h, size_t i)
{
    const float *const dO_i = dO + ((b * p->H + h) * p->Nq + i) * p->d;
    struct scores_of_query s = rounding_scores(p, Q, K, b, h, i);
    struct element *O_i = allocate(p->d, sizeof *O_i, "a row of O");
    double D = 0.0;
    struct pairs pairs = { .of = allocate(s.n, sizeof *pairs.of, "the pairs of a query"),
                           .n = s.n,
                           .P = allocate(p->Nk, sizeof *pairs.P, "a row of P"),
                           .d_dot = allocate(p->Nk, sizeof *pairs.d_dot, "a row of dS") };
    reference_pairs(p, Q, K, V, dO, b, h, i, pairs.P, pairs.d_dot);
    for (size_t c = 0; c < p->d; c++)
        O_i[c] = (struct element){ 0 };
    const double lse = s.m + log(s.l);
    pairs.lost = s.lost;
    // l's sum; two roundings of lse, m + log l and a change of base; those of m and log l
    pairs.of_lse = rounding_of_sum(1.0, 0.0, s.n, DTYPE_F32) +
                   square(RMS) * (2.0 * square(lse) + square(s.m) + 1.0);
    for (struct key *k = s.keys; k < s.keys + s.n; k++) {
        const float *const v = V + reference_key(p, b, h, k->j);
        k->dP = dot_of(dO_i, v, p->d);
        k->dP.x *= k->Z;
        k->dP.squares *= k->Z * k->Z;
        D += k->P * k->dP.x;
        // unlike a weight, lse may be off by all that its scores are off by: undoes the limit of 1
        pairs.of_lse +=
            rounding_of_weight(k->score - lse, k->variance, s.of_m, 0.0) * fmax(1.0, k->variance);
        for (size_t c = 0; c < p->d; c++)
            element_add(&O_i[c], k->P * k->Z * (double)v[c]);
    }
    pairs.of_D = of_D(p, &s, dO_i, O_i, D, &pairs.stored_D);
    for (size_t k = 0; k < s.n; k++)
        pairs.of[k] = pair_of(p, &s.keys[k], D, lse, &pairs);
    free(O_i);
    free(s.sorted);
    free(s.keys);
    return pairs;
}

// ---- sums of them -------------------------------------------------------------------------------

/*
 * Sums for d elements of a gradient: an array for each sum, so that loops over columns take several
 * at once.
 */
enum { SUMS = 11 };
struct sums {
    double *value, *variance, *lost;
    double *by_shared_D;                      // a row of dQ moves by this times the error of its D
    double *stored_variance, *stored_change;  // of the terms
    double *D_variance, *D_change;            // of D: apart, as a kernel may round only one
    double *running, *squares, *partial;      // the terms, summed in their order
    struct lossy *lossy;  // NULL up to FEW terms, where rounding_bias ignores it
};

/* Like allocate, of zeros. */
static void *zeros(size_t count, size_t size, const char *what)
{
    return memset(allocate(count, size, what), 0, count * size);
}

/* Number `row` of rows of sums in SUMS d numbers for each, and d of lossy unless that is NULL. */
static struct sums sums_at(double *sums, struct lossy *lossy, size_t row, size_t d)
{
    double *const x = sums + row * SUMS * d;
    return (struct sums){ x,         x + d,     x + 2 * d,  x + 3 * d,
                          x + 4 * d, x + 5 * d, x + 6 * d,  x + 7 * d,
                          x + 8 * d, x + 9 * d, x + 10 * d, lossy ? lossy + row * d : NULL };
}

/* Adds terms g x, with this variance of g, what it loses and its change if it is stored. */
static void sums_add(const struct sums *s, const float *restrict x, size_t d, double g, double of_g,
                     double lost_g, struct stored stored)
{
    double *const restrict variance = s->variance, *const restrict lost = s->lost;
    double *const restrict stored_variance = s->stored_variance;
    double *const restrict stored_change = s->stored_change;
    double *const restrict running = s->running, *const restrict squares = s->squares;
    double *const restrict partial = s->partial;
    for (size_t c = 0; c < d; c++) {
        const double y = (double)x[c], term = g * y;
        variance[c] += of_g * y * y;
        lost[c] += lost_g * fabs(y);
        stored_variance[c] += square(y) * stored.variance;
        stored_change[c] += y * stored.change;
        running[c] += term;
        squares[c] += square(term);
        partial[c] += square(running[c]);
    }
    for (size_t c = 0; c < (s->lossy ? d : 0); c++)
        lossy_add(&s->lossy[c], g * (double)x[c]);
}

/* Adds terms factor x. */
static void add_row(double *restrict sum, const float *restrict x, size_t d, double factor)
{
    for (size_t c = 0; c < d; c++)
        sum[c] += factor * (double)x[c];
}

/* Element c of a gradient, in float32, from sums of n terms with numbers of this type. */
static struct exact gradient_of(const struct sums *s, size_t c, size_t n, enum dtype type)
{
    const struct lossy none = { { 0.0f } }, *const lossy = s->lossy ? &s->lossy[c] : &none;
    const double value = s->value[c];
    const double of_sum = rounding_of_running(value, s->squares[c], s->partial[c], n, type);
    const double bias = rounding_bias(value, rounding_lost(lossy, value, of_sum), n, type);
    // The bias already covers this part of the change.
    const struct stored stored = { s->stored_variance[c],
                                   fmax(fabs(s->stored_change[c]) - bias, 0.0) };
    const struct stored by_D = { s->D_variance[c], s->D_change[c] };
    return rounding_stored(
        (struct exact){
            .value = value,
            .sigma =
                sqrt(s->variance[c] + stored_variance(stored) + stored_variance(by_D) + of_sum),
            .bias = bias + s->lost[c],
        },
        DTYPE_F32);
}

/* For each row, how many rows have the same scores, and how many the same dP too. */
struct alike {
    double *score, *pair;
};

/* Row i of dQ. `keys` counts equal keys. */
static void sum_over_keys(const struct attention *p, const float *K, size_t b, size_t h, size_t i,
                          const struct pairs *pairs, const struct alike *keys, struct exact *dQ_i)
{
    const struct sums sums = sums_at(
        zeros(SUMS * p->d, sizeof(double), "sums over keys"),
        pairs->n > FEW ? zeros(p->d, sizeof(struct lossy), "sums over keys") : NULL, 0, p->d);
    for (const struct pair *a = pairs->of; a < pairs->of + pairs->n; a++) {
        const float *const k = K + reference_key(p, b, h, a->j);
        const double of_gradient = keys->score[a->j] * a->of_gradient + keys->pair[a->j] * a->of_dP;
        sums_add(&sums, k, p->d, a->gradient, of_gradient, a->lost_gradient, a->stored_gradient);
        add_row(sums.by_shared_D, k, p->d, a->by_D);
    }
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j))
            add_row(sums.value, K + reference_key(p, b, h, j), p->d, pairs->d_dot[j]);
    for (size_t c = 0; c < p->d; c++) {
        sums.variance[c] +=
            (pairs->of_D + stored_variance(pairs->stored_D)) * square(sums.by_shared_D[c]) +
            pairs->of_lse * square(sums.value[c]);
        dQ_i[c] = gradient_of(&sums, c, pairs->n, p->dtype);
    }
    free(sums.value);
    free(sums.lossy);
}

/*
 * Adds the pair of a key and query i of the head, with its row of dO, to the key's sums. Equal
 * queries share the errors of P, lse and D's weights; with equal dO those of dP too.
 */
static void add_query(const struct pairs *pairs, const struct pair *a, const struct alike *queries,
                      size_t i, const float *q, const float *dO_i, size_t d,
                      const struct sums *of_dK, const struct sums *of_dV)
{
    const double score = queries->score[i], pair = queries->pair[i];
    const double of_gradient = score * (a->of_gradient + square(a->by_D) * pairs->of_D +
                                        square(a->gradient) * pairs->of_lse) +
                               pair * a->of_dP;
    // of several queries the changes may cancel, so each counts as random too
    const struct stored D = { stored_variance(pairs->stored_D), pairs->stored_D.change };
    const double of_weight = score * (a->of_weight + square(a->weight) * pairs->of_lse);
    sums_add(of_dK, q, d, a->gradient, of_gradient, a->lost_gradient, a->stored_gradient);
    for (size_t c = 0; c < d; c++) {
        of_dK->D_variance[c] += square(a->by_D * (double)q[c]) * D.variance;
        of_dK->D_change[c] += a->by_D * (double)q[c] * D.change;
    }
    sums_add(of_dV, dO_i, d, a->weight, of_weight, a->lost_weight, a->stored_weight);
}

// ---- some rows ----------------------------------------------------------------------------------

static const size_t NOT_WANTED = SIZE_MAX;

/* Those from number `first` on, below `end`. */
static struct some_rows rows_between(struct some_rows rows, size_t first, size_t end)
{
    while (rows.count > 0 && rows.at[0] < first)
        rows.at++, rows.count--;
    while (rows.count > 0 && rows.at[rows.count - 1] >= end)
        rows.count--;
    return rows;
}

/* For n rows from `first` on: the index in `rows` of each, or NOT_WANTED. free() it. */
static size_t *indices_of(struct some_rows rows, size_t first, size_t n)
{
    size_t *index_of = allocate(n, sizeof *index_of, "the rows to check");
    for (size_t i = 0; i < n; i++)
        index_of[i] = NOT_WANTED;
    for (size_t k = rows.count; k-- > 0;)  // a row that is wanted twice has the first index
        index_of[rows.at[k] - first] = k;
    return index_of;
}

/* Sums over queries for a row of dK and of dV, and how many queries attend to the key. */
struct key_sums {
    struct sums dK, dV;
    size_t queries;
};

/* Adds query (b, h, i) to the wanted keys. */
static void add_to_keys(const struct attention *p, const float *q, const float *dO_i, size_t b,
                        size_t h, size_t i, const struct pairs *pairs, const struct alike *queries,
                        size_t in_head, const size_t *index_of, struct key_sums *keys)
{
    for (const struct pair *a = pairs->of; a < pairs->of + pairs->n; a++) {
        if (index_of[a->j] == NOT_WANTED)
            continue;
        struct key_sums *const key = &keys[index_of[a->j]];
        key->queries++;
        add_query(pairs, a, queries, in_head, q, dO_i, p->d, &key->dK, &key->dV);
    }
    for (size_t j = 0; j < p->Nk; j++) {
        if (index_of[j] == NOT_WANTED || !visible(p, b, h, i, j))
            continue;
        struct key_sums *const key = &keys[index_of[j]];
        const double weight = pairs->P[j] * reference_dropout(p, b, h, i, j);
        add_row(key->dK.value, q, p->d, pairs->d_dot[j]);
        add_row(key->dV.value, dO_i, p->d, weight);
    }
}

/*
 * Key/value head number `head`, in one pass over its queries: only the wanted ones, if no key is.
 * Sums run in order, so the result does not depend on the number of threads.
 */
static void backward_head(const struct attention *p, const float *Q, const float *K, const float *V,
                          const float *dO, size_t head, struct some_rows queries,
                          struct some_rows keys, struct exact *dQ, struct exact *dK,
                          struct exact *dV)
{
    enum { AT_ONCE = 64 };
    const size_t d = p->d, n = p->H / p->Hkv * p->Nq, first = head * n, b = head / p->Hkv;
    const float *const K_head = K + head * p->Nk * d, *const V_head = V + head * p->Nk * d;
    size_t *const query_index = indices_of(queries, first, n), count = 0;
    size_t *const key_index = indices_of(keys, head * p->Nk, p->Nk);
    size_t *const rows = allocate(n, sizeof *rows, "the rows to check");
    const size_t elements = 2 * keys.count * d;  // of dK and dV
    double *const sums = zeros(SUMS * elements, sizeof *sums, "sums over queries");
    struct lossy *const lossy =
        n > FEW ? zeros(elements, sizeof *lossy, "sums over queries") : NULL;
    struct key_sums *const of_keys = allocate(keys.count, sizeof *of_keys, "the keys to check");
    const struct alike like_key = { alike_of(K_head, NULL, p->Nk, d),
                                    alike_of(K_head, V_head, p->Nk, d) };
    struct alike like_query = { NULL, NULL };
    struct pairs pairs[AT_ONCE];
    if (keys.count > 0)
        like_query = (struct alike){ alike_of(Q + first * d, NULL, n, d),
                                     alike_of(Q + first * d, dO + first * d, n, d) };
    for (size_t k = 0; k < keys.count; k++)
        of_keys[k] = (struct key_sums){ sums_at(sums, lossy, 2 * k, d),
                                        sums_at(sums, lossy, 2 * k + 1, d), 0 };
    for (size_t row = 0; row < n; row++)
        if (keys.count > 0 || query_index[row] != NOT_WANTED)
            rows[count++] = row;
    for (size_t from = 0; from < count; from += AT_ONCE) {
        const size_t some = count - from < AT_ONCE ? count - from : AT_ONCE;
        progress("reference", from, count);
        PARALLEL(omp parallel for schedule(dynamic))
        for (size_t k = 0; k < some; k++) {
            const size_t row = rows[from + k], h = (first + row) / p->Nq % p->H;
            pairs[k] = pairs_of(p, Q, K, V, dO, b, h, row % p->Nq);
            if (query_index[row] != NOT_WANTED)
                sum_over_keys(p, K, b, h, row % p->Nq, &pairs[k], &like_key,
                              dQ + query_index[row] * d);
        }
        for (size_t k = 0; k < some; k++) {
            const size_t row = rows[from + k], at = (first + row) * d;
            if (keys.count > 0)
                add_to_keys(p, Q + at, dO + at, b, (first + row) / p->Nq % p->H, row % p->Nq,
                            &pairs[k], &like_query, row, key_index, of_keys);
            free(pairs[k].of);
            free(pairs[k].P);
            free(pairs[k].d_dot);
        }
    }
    progress("reference", count, count);
    for (size_t k = 0; k < queries.count; k++)
        memmove(dQ + k * d, dQ + query_index[queries.at[k] - first] * d, d * sizeof *dQ);
    for (size_t k = 0; k < keys.count * d; k++) {
        const struct key_sums *const key = &of_keys[key_index[keys.at[k / d] - head * p->Nk]];
        dK[k] = gradient_of(&key->dK, k % d, key->queries, p->dtype);
        dV[k] = gradient_of(&key->dV, k % d, key->queries, p->dtype);
    }
    free(like_query.score);
    free(like_query.pair);
    free(like_key.score);
    free(like_key.pair);
    free(of_keys);
    free(lossy);
    free(sums);
    free(rows);
    free(key_index);
    free(query_index);
}

void rounding_backward(const struct attention *p, const float *Q, const float *K, const float *V,
                       const float *dO, struct some_rows queries, struct some_rows keys,
                       struct exact *dQ, struct exact *dK, struct exact *dV)
{
    const size_t n = p->H / p->Hkv * p->Nq;
    for (size_t head = 0; head < p->B * p->Hkv; head++) {
        const struct some_rows wanted = rows_between(queries, head * n, (head + 1) * n);
        const struct some_rows some_keys = rows_between(keys, head * p->Nk, (head + 1) * p->Nk);
        const size_t query = (size_t)(wanted.at - queries.at) * p->d;
        const size_t key = (size_t)(some_keys.at - keys.at) * p->d;
        if (wanted.count + some_keys.count > 0)
            backward_head(p, Q, K, V, dO, head, wanted, some_keys, dQ + query, dK + key, dV + key);
    }
}
