#include "common/check/gradient_check.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 21, STREAM = 11, SOME_KEYS = 16 };

// ---- expected rows ------------------------------------------------------------------------------

/* Rows of dQ one by one; rows of dK and dV, all in one head, in one pass over its queries. */
static void check_some(struct gradient_check *c, const struct attention_input *in, const float *dO)
{
    const struct attention *p = &in->p;
    progress("reference", 0, 2);
    PARALLEL(omp parallel for schedule(dynamic))
    for (size_t k = 0; k < c->count[DQ]; k++) {
        const size_t row = c->rows[DQ][k], h = row / p->Nq % p->H, b = row / p->Nq / p->H;
        rounding_backward_query(p, in->Q, in->K, in->V, dO, b, h, row % p->Nq,
                                c->right[DQ] + k * p->d);
    }
    progress("reference", 1, 2);
    rounding_backward_keys(p, in->Q, in->K, in->V, dO, c->rows[DK], c->count[DK], c->right[DK],
                           c->right[DV]);
    progress("reference", 2, 2);
}

/* The first, the last, and other keys of a random head. */
static size_t *choose_keys(const struct attention *p, size_t count)
{
    const size_t head = random_between(SEED, STREAM, 0, 0, p->B * p->Hkv - 1);
    size_t *rows = attention_check_choose(1, p->Nk, count);
    for (size_t k = 0; k < count; k++)
        rows[k] += head * p->Nk;
    return rows;
}

struct gradient_check gradient_check_begin(const struct attention_input *input, const float *dO,
                                           bool all)
{
    const struct attention *p = &input->p;
    const size_t heads = p->B * p->H, keys = p->B * p->Hkv * p->Nk;
    const size_t rows =
        attention_check_count(heads, p->Nq, 5.0 * (double)p->Nk * (double)p->d, all);
    const bool is_all = rows == heads * p->Nq;
    const size_t some_keys = p->Nk < SOME_KEYS ? p->Nk : SOME_KEYS;
    struct gradient_check c = {
        .shape = { { p->B, p->H, p->Nq, p->d },
                   { p->B, p->Hkv, p->Nk, p->d },
                   { p->B, p->Hkv, p->Nk, p->d } },
        .count = { rows, is_all ? keys : some_keys, is_all ? keys : some_keys },
        .rows = { attention_check_choose(heads, p->Nq, rows) },
    };
    for (size_t g = DQ; g < GRADIENTS; g++) {
        if (g != DQ)
            c.rows[g] = is_all ? attention_check_choose(1, keys, keys) : choose_keys(p, some_keys);
        c.right[g] = allocate(c.count[g] * p->d, sizeof *c.right[g], "the reference");
    }
    if (is_all)
        rounding_backward(p, input->Q, input->K, input->V, dO, c.right[DQ], c.right[DK],
                          c.right[DV]);
    else
        check_some(&c, input, dO);
    return c;
}

void gradient_check_end(struct gradient_check *check)
{
    for (size_t g = 0; g < GRADIENTS; g++) {
        free(check->rows[g]);
        free(check->right[g]);
    }
    *check = (struct gradient_check){ .count = { 0 } };
}

// ---- comparing ----------------------------------------------------------------------------------

static float *checked_rows(const struct gradient_check *check, size_t g, const float *whole)
{
    const size_t d = check->shape[g][3];
    float *some = allocate(check->count[g] * d, sizeof *some, "the rows to check");
    for (size_t k = 0; k < check->count[g]; k++)
        memcpy(some + k * d, whole + check->rows[g][k] * d, d * sizeof *some);
    return some;
}

/*
 * float16 overflows to infinity above 65504. Where the expected value does too, that is right: we
 * replace it by that value.
 */
static void take_back_overflow(float *got, const struct exact *right, size_t n)
{
    const double first_infinite = 65520.0;
    for (size_t k = 0; k < n; k++)
        if (isinf(got[k]) && (got[k] > 0.0f) == (right[k].value > 0.0) &&
            fabs(right[k].value) + right[k].bias + right[k].sigma >= first_infinite)
            got[k] = (float)right[k].value;
}

static void compare_head(const struct gradient_check *check, size_t g, size_t first, size_t count,
                         struct gradient_pair *pair)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const size_t d = check->shape[g][3], from = first * d, n = count * d;
    const struct axes axes = { 4, check->shape[g], "b, h, row, c", check->rows[g] + first, d };
    struct exact *const right = pair->right + from;
    if (check->stored == DTYPE_F16)
        take_back_overflow(pair->got + from, right, n);
    struct comparison c = {
        .of = names[g],
        .with = "reference",
        .got = pair->got + from,
        .expected = right,
        .difference = difference_between(pair->got + from, right, count, d),
        .axes = axes,
    };
    comparison_keep_worse(&pair->reference, c);
    if (!pair->before || !is_explained(difference_between(pair->before + from, right, count, d)))
        return;
    for (size_t k = from; k < from + n; k++)
        pair->from_previous[k] = rounding_between(pair->right[k], pair->before[k]);
    c.with = pair->name;
    c.expected = pair->from_previous + from;
    c.difference = difference_between(pair->got + from, c.expected, count, d);
    comparison_keep_worse(&pair->previous, c);
}

static void compare(const struct gradient_check *check, size_t g, const float *got,
                    const char *name, const float *before, struct gradient_pair *pair)
{
    const size_t N = check->shape[g][2], d = check->shape[g][3], n = check->count[g] * d;
    *pair = (struct gradient_pair){ .name = name, .got = checked_rows(check, g, got) };
    pair->right = allocate(n, sizeof *pair->right, "the reference");
    for (size_t k = 0; k < n; k++)
        pair->right[k] = check->stored == DTYPE_F32
                             ? check->right[g][k]
                             : rounding_stored(check->right[g][k], check->stored);
    if (before) {
        pair->before = checked_rows(check, g, before);
        pair->from_previous = allocate(n, sizeof *pair->from_previous, "the stage before");
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

static void take(const struct comparison *c, double *error, struct attention_errors *errors)
{
    const double off = c->difference.mismatched ? (double)NAN : c->difference.max_abs;
    if (!c->with)
        return;
    *error = isnan(off) || off > *error ? off : *error;
    errors->right &= is_explained(c->difference);
}

struct attention_errors gradient_verdict_end(struct gradient_verdict *v)
{
    struct attention_errors errors = { .right = true };
    for (size_t g = 0; g < GRADIENTS; g++) {
        struct gradient_pair *const pair = &v->pairs[g];
        take(&pair->reference, &errors.reference, &errors);
        take(&pair->previous, &errors.previous, &errors);
        errors.has_previous |= pair->previous.with != NULL;
        free(pair->right);
        free(pair->from_previous);
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
