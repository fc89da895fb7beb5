#include "common/check/attention_check.h"

#include "common/check/plain.h"
#include "common/check/reference.h"
#include "common/cpu/memory.h"
#include "common/measure/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20, STREAM = 9 };

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* All rows, or some of them, in order. One may come twice. */
static size_t *choose_rows(size_t rows, size_t count)
{
    size_t *chosen = allocate(count, sizeof *chosen, "the rows to check");
    for (size_t k = 0; k < count; k++)
        chosen[k] = count == rows ? k : random_between(SEED, STREAM, k, 0, rows - 1);
    qsort(chosen, count, sizeof *chosen, by_number);
    return chosen;
}

/* The usual size of a value in each head: the mean of |v|, of those that are finite. */
static double *sizes_of_values(const struct attention_input *input)
{
    const struct attention *p = &input->p;
    double *sizes = allocate(p->B * p->H, sizeof *sizes, "the sizes of values");
    for (size_t n = 0; n < p->B * p->H; n++) {
        const size_t head = n / p->H * p->Hkv + kv_head(p, n % p->H), elements = p->Nk * p->d;
        double sum = 0.0;
        for (size_t k = 0; k < elements; k++) {
            const double v = fabs((double)input->V[head * elements + k]);
            sum += isfinite(v) ? v : 0.0;
        }
        sizes[n] = sum / (double)elements;
    }
    return sizes;
}

struct attention_check attention_check_begin(const struct attention_input *input, bool all)
{
    const struct attention *p = &input->p;
    const size_t rows = attention_rows(p);
    const bool few = 2.0 * (double)rows * (double)p->Nk * (double)p->d <= ATTENTION_CHECK_ALL;
    struct attention_check c = {
        .shape = { p->B, p->H, p->Nq, p->d },
        .count = all || few || rows < ATTENTION_CHECK_ROWS ? rows : ATTENTION_CHECK_ROWS,
    };
    c.rows = choose_rows(rows, c.count);
    c.values = sizes_of_values(input);
    c.right = allocate(c.count * p->d, sizeof *c.right, "the reference");
    c.lse = allocate(c.count, sizeof *c.lse, "the reference");
    c.plain = allocate(c.count * p->d, sizeof *c.plain, "the textbook attention");
    c.plain_lse = allocate(c.count, sizeof *c.plain_lse, "the textbook attention");
    for (size_t k = 0; k < c.count; k++) {
        const size_t i = c.rows[k] % p->Nq, h = c.rows[k] / p->Nq % p->H,
                     b = c.rows[k] / p->Nq / p->H;
        progress("reference", k, c.count);
        reference_forward_row(p, input->Q, input->K, input->V, b, h, i, c.right + k * p->d,
                              c.lse + k);
        plain_forward_row(p, input->Q, input->K, input->V, b, h, i, c.plain + k * p->d,
                          c.plain_lse + k);
    }
    progress("reference", c.count, c.count);
    return c;
}

void attention_check_end(struct attention_check *check)
{
    free(check->rows);
    free(check->values);
    free(check->right);
    free(check->lse);
    free(check->plain);
    free(check->plain_lse);
    *check = (struct attention_check){ 0 };
}

float *attention_check_rows(const struct attention_check *check, const float *whole, size_t length)
{
    float *some = allocate(check->count * length, sizeof *some, "the rows to check");
    for (size_t k = 0; k < check->count; k++)
        memcpy(some + k * length, whole + check->rows[k] * length, length * sizeof *some);
    return some;
}

/* The checked rows of one head: `count` of them from number `first` on. */
struct head {
    size_t first, count;
};

static struct head head_from(const struct attention_check *check, const struct attention *p,
                             size_t first)
{
    struct head head = { first, 0 };
    while (first + head.count < check->count &&
           check->rows[first + head.count] / p->Nq == check->rows[first] / p->Nq)
        head.count++;
    return head;
}

/* The rows of a head, each of `length` elements, against what they should be. */
static struct comparison compare_head(const struct attention_check *check, struct head head,
                                      const char *with, const float *got, const double *expected,
                                      struct allowance allowance, struct axes axes)
{
    const size_t from = head.first * axes.row_length, n = head.count * axes.row_length;
    axes.rows = check->rows + head.first;
    return (struct comparison){
        .with = with,
        .got = got + from,
        .expected = expected + from,
        .difference = difference_between(got + from, expected + from, n),
        .allowance = allowance,
        .axes = axes,
    };
}

static struct axes axes_of_output(const struct attention_check *check)
{
    return (struct axes){ 4, check->shape, "b, h, i, c", NULL, check->shape[3] };
}

/* What O's rows of a head are allowed. */
static struct allowance allowance_of_output(const struct attention_check *check, struct head head,
                                            const struct attention *p)
{
    const size_t from = head.first * p->d;
    double lse = 0.0;
    for (size_t k = head.first; k < head.first + head.count; k++)
        if (isfinite(check->lse[k]))
            lse = fmax(lse, fabs(check->lse[k]));
    const struct allowance allowance =
        allowance_for_output(check->plain + from, check->right + from, head.count * p->d, p->Nk,
                             head.count, check->values[check->rows[head.first] / p->Nq], lse);
    return allowance_of_type(allowance, check->right + from, head.count * p->d, p->dtype);
}

struct comparison attention_check_output(const struct attention_check *check,
                                         const struct attention *p, const float *O)
{
    struct comparison worst = { 0 };
    for (struct head head = { 0 }; head.first < check->count; head.first += head.count) {
        head = head_from(check, p, head.first);
        comparison_keep_worse(&worst, compare_head(check, head, "double reference", O, check->right,
                                                   allowance_of_output(check, head, p),
                                                   axes_of_output(check)));
    }
    return worst;
}

/* A head of the previous stage in double. False if that stage cannot do it: it was not written. */
static bool widen_head(double *wide, const float *before, struct head head, size_t d)
{
    for (size_t k = head.first * d; k < (head.first + head.count) * d; k++) {
        if (poison_is(before[k]))
            return false;
        wide[k] = (double)before[k];
    }
    return true;
}

/*
 * Keeps in *worst what a head of O differs by from that of a stage. False if that stage cannot do it,
 * or is wrong itself.
 */
static bool compare_with_stage(struct comparison *worst, const struct attention_check *check,
                               const struct attention *p, struct head head, const char *name,
                               const float *O, const float *stage, double *wide)
{
    const size_t from = head.first * p->d, n = head.count * p->d;
    const struct allowance allowance = allowance_of_output(check, head, p);
    if (!stage || !widen_head(wide, stage, head, p->d))
        return false;
    const struct difference other = difference_between(stage + from, check->right + from, n);
    if (!within(other, allowance))
        return false;
    comparison_keep_worse(worst,
                          compare_head(check, head, name, O, wide,
                                       allowance_between(allowance, other), axes_of_output(check)));
    return true;
}

struct attention_verdict attention_verdict_of(const struct attention_check *check,
                                              const struct attention *p, const float *O,
                                              const float *lse, const char *name,
                                              const float *before)
{
    const struct axes of_lse = { 3, check->shape, "b, h, i", NULL, 1 };
    struct attention_verdict v = { .reference = attention_check_output(check, p, O),
                                   .right = true };
    if (before)
        v.wide = allocate(check->count * p->d, sizeof *v.wide, "the stage before");
    if (check->other)
        v.wide_other = allocate(check->count * p->d, sizeof *v.wide_other, "another stage");
    for (struct head head = { 0 }; head.first < check->count; head.first += head.count) {
        head = head_from(check, p, head.first);
        // a logarithm of a sum: what rounds the sum by an ulp of it moves it by an ulp of 1
        const struct allowance allowance_lse =
            allowance_for_sums(check->plain_lse + head.first, check->lse + head.first, head.count,
                               p->Nk, head.count, 1.0);
        if (lse)
            comparison_keep_worse(&v.lse, compare_head(check, head, "its lse", lse, check->lse,
                                                       allowance_lse, of_lse));
        compare_with_stage(&v.other, check, p, head, check->other_name, O, check->other,
                           v.wide_other);
        if (!compare_with_stage(&v.previous, check, p, head, name, O, before, v.wide))
            v.left_out += head.count;
    }
    const struct comparison *const all[] = { &v.reference, &v.lse, &v.other, &v.previous };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        v.right &= !all[k]->with || within(all[k]->difference, all[k]->allowance);
    return v;
}

static double largest_error(const struct comparison *c)
{
    return c->difference.mismatched ? (double)NAN : c->difference.max_abs;
}

struct attention_errors attention_verdict_end(struct attention_verdict *v)
{
    free(v->wide);
    free(v->wide_other);
    return (struct attention_errors){
        .reference = largest_error(&v->reference),
        .other = largest_error(&v->other),
        .previous = largest_error(&v->previous),
        .has_previous = v->previous.with,
        .right = v->right,
    };
}

struct attention_errors attention_check_errors(const struct attention_check *check,
                                               const struct attention *p, const float *O,
                                               const float *lse, const float *before)
{
    struct attention_verdict v = attention_verdict_of(check, p, O, lse, "the stage before", before);
    return attention_verdict_end(&v);
}
