#include "attention_check.h"

#include "memory.h"
#include "plain.h"
#include "reference.h"
#include "report.h"

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

struct attention_check attention_check_begin(const struct attention_input *input, bool all)
{
    const struct attention *p = &input->p;
    const size_t rows = attention_rows(p);
    const bool few = 2.0 * (double)rows * (double)p->Nk * (double)p->d <= ATTENTION_CHECK_ALL;
    struct attention_check c = {
        .count = all || few || rows < ATTENTION_CHECK_ROWS ? rows : ATTENTION_CHECK_ROWS,
    };
    c.rows = choose_rows(rows, c.count);
    c.right = allocate(c.count * p->d, sizeof *c.right, "the reference");
    c.lse = allocate(c.count, sizeof *c.lse, "the reference");
    c.plain = allocate(c.count * p->d, sizeof *c.plain, "the textbook attention");
    c.plain_lse = allocate(c.count, sizeof *c.plain_lse, "the textbook attention");
    for (size_t k = 0; k < c.count; k++) {
        const size_t i = c.rows[k] % p->Nq, h = c.rows[k] / p->Nq % p->H,
                     b = c.rows[k] / p->Nq / p->H;
        report_progress("reference", k, c.count);
        reference_forward_row(p, input->Q, input->K, input->V, b, h, i, c.right + k * p->d,
                              c.lse + k);
        plain_forward_row(p, input->Q, input->K, input->V, b, h, i, c.plain + k * p->d,
                          c.plain_lse + k);
    }
    report_progress("reference", c.count, c.count);
    return c;
}

void attention_check_end(struct attention_check *check)
{
    free(check->rows);
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

/* The previous stage's rows in double, with `O` itself where that stage has none. */
static double *previous_rows(const float *before, const float *O, size_t count, size_t d,
                             size_t *left_out)
{
    double *wide = allocate(count * d, sizeof *wide, "the previous stage's output");
    *left_out = 0;
    for (size_t k = 0; k < count; k++) {
        const bool there = !isnan(before[k * d]);
        *left_out += there ? 0 : 1;
        for (size_t c = 0; c < d; c++)
            wide[k * d + c] = (double)(there ? before : O)[k * d + c];
    }
    return wide;
}

struct attention_errors attention_check_report(const struct attention_check *check,
                                               const struct attention *p, const float *O,
                                               const float *lse, const char *name,
                                               const float *before)
{
    const size_t n = check->count * p->d, shape[4] = { p->B, p->H, p->Nq, p->d };
    const struct axes of_O = { 4, shape, "b, h, i, c", check->rows, p->d };
    const struct axes of_lse = { 3, shape, "b, h, i", check->rows, 1 };
    const struct allowance allowance = allowance_for(check->plain, check->right, n, FORWARD);
    struct comparison comparisons[3] = {
        { "double reference", O, check->right, difference_between(O, check->right, n), allowance,
          of_O },
        { "its lse", lse, check->lse, difference_between(lse, check->lse, check->count),
          allowance_for(check->plain_lse, check->lse, check->count, FORWARD), of_lse },
    };
    double *wide = NULL;
    size_t left_out = 0;
    if (before) {
        wide = previous_rows(before, O, check->count, p->d, &left_out);
        comparisons[2] = (struct comparison){
            .with = name,
            .got = O,
            .expected = wide,
            .difference = difference_between(O, wide, n),
            .allowance = allowance_between(allowance, difference_between(before, check->right, n)),
            .axes = of_O,
        };
    }
    report_compared(comparisons, before && left_out < check->count ? 3 : 2);
    if (check->count < attention_rows(p))
        report_line("  checked at %zu of %zu rows, drawn by seed; --verify=all checks every row",
                    check->count, attention_rows(p));
    if (left_out == check->count)
        report_line("  %s cannot do this problem: the reference alone is the judge", name);
    else if (left_out)
        report_line("  %s knows no masks: %zu of %zu rows go by the reference alone", name,
                    left_out, check->count);
    free(wide);
    return (struct attention_errors){
        .reference = comparisons[0].difference.max_abs,
        .previous = comparisons[2].difference.max_abs,
    };
}
