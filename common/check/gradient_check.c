#include "common/check/gradient_check.h"

#include "common/cpu/memory.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 21, STREAM = 11, SOME_KEYS = 16 };

/* The first, the last, and random keys of one random head. */
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
    rounding_backward(
        p, input->Q, input->K, input->V, dO, (struct some_rows){ c.rows[DQ], c.count[DQ] },
        (struct some_rows){ c.rows[DK], c.count[DK] }, c.right[DQ], c.right[DK], c.right[DV]);
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

/*
 * float16 overflows to infinity above 65504. Where the expected value does too, that is right: we
 * replace it by that value.
 */
static void accept_overflow(float *got, const struct exact *right, size_t n)
{
    const double first_infinite = 65520.0;
    for (size_t k = 0; k < n; k++)
        if (isinf(got[k]) && (got[k] > 0.0f) == (right[k].value > 0.0) &&
            fabs(right[k].value) + right[k].bias + right[k].sigma >= first_infinite)
            got[k] = (float)right[k].value;
}

double larger_error(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

static void compare(const struct gradient_check *check, size_t g, const float *got,
                    const char *name, const float *before, struct gradient_pair *pair)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const size_t count = check->count[g], d = check->shape[g][3], *rows = check->rows[g];
    const struct axes axes = { 4, check->shape[g], "b, h, row, c", rows, d };
    *pair = (struct gradient_pair){ .got = rows_copied(rows, count, got, d) };
    pair->right = allocate(count * d, sizeof *pair->right, "the reference");
    for (size_t k = 0; k < count * d; k++)
        pair->right[k] = check->stored == DTYPE_F32
                             ? check->right[g][k]
                             : rounding_stored(check->right[g][k], check->stored);
    if (check->stored == DTYPE_F16)
        accept_overflow(pair->got, pair->right, count * d);
    compare_heads(axes, count, "reference", pair->got, pair->right, NULL, &pair->reference, NULL);
    if (before) {
        pair->before = rows_copied(rows, count, before, d);
        compare_heads(axes, count, name, pair->got, pair->right, pair->before, &pair->previous,
                      &pair->from_previous);
    }
    pair->reference.of = pair->previous.of = names[g];
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

struct attention_errors gradient_verdict_end(struct gradient_verdict *v)
{
    struct attention_errors errors = { .right = true };
    for (size_t g = 0; g < GRADIENTS; g++) {
        struct gradient_pair *const pair = &v->pairs[g];
        const bool has_previous = pair->previous.with;
        errors.reference = larger_error(errors.reference, comparison_error(&pair->reference));
        errors.previous = larger_error(errors.previous, comparison_error(&pair->previous));
        errors.has_previous |= has_previous;
        errors.right &= is_explained(pair->reference.difference) &&
                        (!has_previous || is_explained(pair->previous.difference));
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
