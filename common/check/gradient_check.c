#include "common/check/gradient_check.h"

#include "common/check/plain.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 21, STREAM = 9 };

// ---- what terms there are -----------------------------------------------------------------------

/* The length of the longest of the rows of d numbers, but for those that are not finite. */
static double longest_row(const float *x, size_t n, size_t d)
{
    double most = 0.0;
    for (size_t row = 0; row < n; row += d) {
        double sum = 0.0;
        for (size_t k = row; k < row + d; k++)
            sum += isfinite(x[k]) ? (double)x[k] * (double)x[k] : 0.0;
        most = fmax(most, sum);
    }
    return sqrt(most);
}

/* The root of the mean of the squares of those that are finite. */
static double usual(const float *x, size_t n)
{
    double sum = 0.0;
    size_t finite = 0;
    for (size_t k = 0; k < n; k++)
        if (isfinite(x[k])) {  // others may stand in keys that no query attends to
            sum += (double)x[k] * (double)x[k];
            finite++;
        }
    return finite > 0 ? sqrt(sum / (double)finite) : 0.0;
}

/* How many keys a query sees, of those that see any. A few are asked, in one head, for heads do not differ. */
static double keys_of_a_query(const struct attention *p)
{
    const size_t apart = (p->Nq - 1) / GRADIENT_CHECK_ROWS + 1;
    size_t pairs = 0, queries = 0;
    for (size_t b = 0; b < p->B; b++)
        for (size_t i = 0; i < p->Nq; i += apart) {
            size_t keys = 0;
            for (size_t j = 0; j < p->Nk; j++)
                keys += visible(p, b, 0, i, j) ? 1 : 0;
            pairs += keys;
            queries += keys > 0 ? 1 : 0;
        }
    return queries > 0 ? (double)pairs / (double)queries : 1.0;
}

struct gradient_terms gradient_terms_of(const struct attention *p, const float *Q, const float *K,
                                        const float *V, const float *dO)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    const double Z = 1.0 / (1.0 - p->dropout), scale = fabs((double)p->scale);
    // a key's sums have a term for each query that looks at it
    const size_t group = p->H / p->Hkv;
    const double looks = (double)group * (double)p->Nq / (double)p->Nk;
    // twice the usual size, which is not rare; 8 ulp are allowed, and a sum of d terms is off by some sqrt(d) of them
    const double ulps = fmax(1.0, sqrt((double)p->d) / 8.0);
    const double dP = 2.0 * ulps * sqrt((double)p->d) * usual(dO, queries) * usual(V, keys) * Z;
    // no lse is known yet: scores are at most this, and ln Nk more
    const double score = scale * longest_row(Q, queries, p->d) * longest_row(K, keys, p->d);
    struct gradient_terms terms = {
        .size = { [DQ] = scale * dP * usual(K, keys),
                  [DK] = scale * dP * usual(Q, queries) * sqrt(fmax(1.0, looks)),
                  [DV] = usual(dO, queries) * Z },
        .lse = score + log((double)p->Nk),
    };
    // Scores of normal numbers vary by 1, and all keys have a share; the more they vary, the fewer.
    const double vary = scale * sqrt((double)p->d) * usual(Q, queries) * usual(K, keys);
    const double share = fmin(1.0, exp(fmax(0.0, vary * vary - 1.0)) / keys_of_a_query(p));
    // Weights are about `share`, each rounded for itself. A row of dQ is a sum of 1/share terms, one of dK and dV
    // of looks/share, and one at least. (Where looks are many, so are the textbook's, and it has no luck.)
    const double of_keys = fmax(share, sqrt(fmin(1.0, looks) * share));
    for (size_t g = 0; g < GRADIENTS; g++)
        terms.rounded[g] = terms.size[g] * (g == DQ ? sqrt(share) : of_keys);
    return terms;
}

// ---- what is right ------------------------------------------------------------------------------

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* All rows from `first` to before `end`, or `count` of them drawn by seed, in order. */
static size_t *choose_rows(size_t first, size_t end, size_t count, uint32_t stream)
{
    size_t *rows = allocate(count, sizeof *rows, "the rows to check");
    for (size_t k = 0; k < count; k++)
        rows[k] =
            count == end - first ? first + k : random_between(SEED, stream, k, first, end - 1);
    qsort(rows, count, sizeof *rows, by_number);
    return rows;
}

static void check_all(struct gradient_check *c, const struct attention_input *in, const float *dO)
{
    reference_backward(&in->p, in->Q, in->K, in->V, dO, c->right[DQ], c->right[DK], c->right[DV]);
    plain_backward(&in->p, in->Q, in->K, in->V, dO, c->plain[DQ], c->plain[DK], c->plain[DV]);
}

/* Rows of dQ each by itself; those of dK and dV, which lie in one head, in one pass over its queries. */
static void check_some(struct gradient_check *c, const struct attention_input *in, const float *dO)
{
    const struct attention *p = &in->p;
    progress("reference", 0, 3);
    PARALLEL(omp parallel for schedule(dynamic))
    for (size_t k = 0; k < c->count[DQ]; k++) {
        const size_t row = c->rows[DQ][k], h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        reference_backward_query(p, in->Q, in->K, in->V, dO, b, h, row % p->Nq,
                                 c->right[DQ] + k * p->d);
        plain_backward_query(p, in->Q, in->K, in->V, dO, b, h, row % p->Nq,
                             c->plain[DQ] + k * p->d);
    }
    progress("reference", 1, 3);
    reference_backward_keys(p, in->Q, in->K, in->V, dO, c->rows[DK], c->count[DK], c->right[DK],
                            c->right[DV]);
    progress("reference", 2, 3);
    plain_backward_keys(p, in->Q, in->K, in->V, dO, c->rows[DK], c->count[DK], c->plain[DK],
                        c->plain[DV]);
    progress("reference", 3, 3);
}

struct gradient_check gradient_check_begin(const struct attention_input *input, const float *dO,
                                           bool all)
{
    const struct attention *p = &input->p;
    const size_t rows = attention_rows(p), keys = p->B * p->Hkv * p->Nk;
    const bool few = 5.0 * (double)rows * (double)p->Nk * (double)p->d <= ATTENTION_CHECK_ALL;
    const size_t head = few || all ? 0 : random_between(SEED, STREAM, 0, 0, p->B * p->Hkv - 1);
    const size_t some_rows = rows < GRADIENT_CHECK_ROWS ? rows : GRADIENT_CHECK_ROWS;
    const size_t some_keys = p->Nk < GRADIENT_CHECK_KEYS ? p->Nk : GRADIENT_CHECK_KEYS;
    struct gradient_check c = {
        .type = p->dtype,
        .terms = gradient_terms_of(p, input->Q, input->K, input->V, dO),
        .shape = { { p->B, p->H, p->Nq, p->d },
                   { p->B, p->Hkv, p->Nk, p->d },
                   { p->B, p->Hkv, p->Nk, p->d } },
        .count = { few || all ? rows : some_rows, few || all ? keys : some_keys,
                   few || all ? keys : some_keys },
    };
    for (size_t g = 0; g < GRADIENTS; g++) {
        const size_t first = g == DQ ? 0 : head * p->Nk;
        const size_t end = g == DQ ? rows : few || all ? keys : first + p->Nk;
        c.rows[g] = choose_rows(first, end, c.count[g], g == DQ ? STREAM + 1 : STREAM + 2);
        c.right[g] = allocate(c.count[g] * p->d, sizeof(double), "the reference");
        c.plain[g] = allocate(c.count[g] * p->d, sizeof(float), "the textbook attention");
    }
    (few || all ? check_all : check_some)(&c, input, dO);
    return c;
}

void gradient_check_end(struct gradient_check *check)
{
    for (size_t g = 0; g < GRADIENTS; g++) {
        free(check->rows[g]);
        free(check->right[g]);
        free(check->plain[g]);
    }
    *check = (struct gradient_check){ .count = { 0 } };
}

// ---- comparing ----------------------------------------------------------------------------------

/* The checked rows of a whole gradient; free() them. */
static float *checked_rows(const struct gradient_check *check, size_t g, const float *whole)
{
    const size_t d = check->shape[g][3];
    float *some = allocate(check->count[g] * d, sizeof *some, "the rows to check");
    for (size_t k = 0; k < check->count[g]; k++)
        memcpy(some + k * d, whole + check->rows[g][k] * d, d * sizeof *some);
    return some;
}

/*
 * A row of a gradient hangs on one D, and with a single key on one dS: its elements are off together. So where there
 * are few queries or keys the rms is that of few throws of the dice, with one as large as the largest error.
 */
static struct allowance with_few_throws(struct allowance allowance,
                                        const struct gradient_check *check, size_t g)
{
    const size_t Nq = check->shape[DQ][2], Nk = check->shape[DK][2];
    const double throws = (double)(Nq < Nk ? Nq : Nk);
    allowance = allowance_for_rounded_gradient(allowance, check->terms.rounded[g], check->type);
    allowance.rms = fmax(allowance.rms, allowance.max_abs / sqrt(throws));
    return allowance;
}

/* A number that float16 cannot hold is stored as infinite, which is right: here it becomes the number. (The largest is 65504.) */
static void take_back_overflow(float *got, const double *reference, size_t n, double max_abs)
{
    const double first_infinite = 65520.0;
    for (size_t k = 0; k < n; k++)
        if (isinf(got[k]) && (got[k] > 0.0f) == (reference[k] > 0.0) &&
            fabs(reference[k]) + max_abs >= first_infinite)
            got[k] = (float)reference[k];
}

static void compare_head(const struct gradient_check *check, size_t g, size_t first, size_t count,
                         struct gradient_pair *pair)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const size_t d = check->shape[g][3], from = first * d, n = count * d;
    const struct axes axes = { 4, check->shape[g], "b, h, row, c", check->rows[g] + first, d };
    const struct allowance allowance =
        with_few_throws(allowance_for_gradient(check->plain[g] + from, check->right[g] + from, n,
                                               check->terms.size[g], check->terms.lse),
                        check, g);
    if (check->stored == DTYPE_F16)
        take_back_overflow(pair->got + from, check->right[g] + from, n, allowance.max_abs);
    struct comparison c = {
        .of = names[g],
        .with = "reference",
        .got = pair->got + from,
        .expected = check->right[g] + from,
        .difference = difference_between(pair->got + from, check->right[g] + from, n),
        .allowance = allowance_for_stored(allowance, check->right[g] + from, n, check->stored),
        .axes = axes,
    };
    comparison_keep_worse(&pair->reference, c);
    if (!pair->before)
        return;
    const struct difference other =
        difference_between(pair->before + from, check->right[g] + from, n);
    c.with = pair->name;
    c.expected = pair->wide + from;
    c.difference = difference_between(pair->got + from, pair->wide + from, n);
    c.allowance = allowance_between(c.allowance, other);
    if (other.mismatched == 0)
        comparison_keep_worse(&pair->previous, c);
}

static void compare(const struct gradient_check *check, size_t g, const float *got,
                    const char *name, const float *before, struct gradient_pair *pair)
{
    const size_t N = check->shape[g][2], d = check->shape[g][3], n = check->count[g] * d;
    *pair = (struct gradient_pair){ .name = name, .got = checked_rows(check, g, got) };
    if (before) {
        pair->before = checked_rows(check, g, before);
        pair->wide = allocate(n, sizeof *pair->wide, "the stage before");
        for (size_t k = 0; k < n; k++)
            pair->wide[k] = (double)pair->before[k];
    }
    size_t count;
    for (size_t first = 0; first < check->count[g]; first += count) {
        count = 1;
        while (first + count < check->count[g] &&
               check->rows[g][first + count] / N == check->rows[g][first] / N)
            count++;
        compare_head(check, g, first, count, pair);
    }
}

struct gradient_verdict gradient_verdict_of(const struct gradient_check *check,
                                            float *const got[GRADIENTS], const char *name,
                                            float *const before[GRADIENTS])
{
    struct gradient_verdict v;
    for (size_t g = 0; g < GRADIENTS; g++)
        compare(check, g, got[g], name, before ? before[g] : NULL, &v.pairs[g]);
    return v;
}

/* Takes note of a comparison, if there is one. */
static void take(const struct comparison *c, double *error, struct attention_errors *errors)
{
    const double off = c->difference.mismatched ? (double)NAN : c->difference.max_abs;
    if (!c->with)
        return;
    *error = isnan(off) || off > *error ? off : *error;
    errors->right &= within(c->difference, c->allowance);
}

struct attention_errors gradient_verdict_end(struct gradient_verdict *v)
{
    struct attention_errors errors = { .right = true };
    for (size_t g = 0; g < GRADIENTS; g++) {
        struct gradient_pair *const pair = &v->pairs[g];
        take(&pair->reference, &errors.reference, &errors);
        take(&pair->previous, &errors.previous, &errors);
        errors.has_previous |= pair->previous.with != NULL;
        free(pair->wide);
        free(pair->got);
        free(pair->before);
    }
    return errors;
}

struct attention_errors gradient_check_errors(const struct gradient_check *check,
                                              float *const got[GRADIENTS],
                                              float *const before[GRADIENTS])
{
    struct gradient_verdict v = gradient_verdict_of(check, got, "the stage before", before);
    return gradient_verdict_end(&v);
}
