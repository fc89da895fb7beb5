#include "common/check/attention_check.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20, STREAM = 9, LEAST_ROWS = 64, AT_ONCE = 64 };

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Row k in order of priority: the first row of each head, the last of each, then random ones. */
static size_t chosen_row(size_t heads, size_t N, size_t k)
{
    const size_t head = k % heads, turn = k / heads;
    const size_t i = turn == 0 ? 0 : turn == 1 ? N - 1 : random_between(SEED, STREAM, k, 0, N - 1);
    return head * N + i;
}

size_t *attention_check_choose(size_t heads, size_t N, size_t count)
{
    size_t *rows = allocate(count, sizeof *rows, "the rows to check");
    for (size_t k = 0; k < count; k++)
        rows[k] = count == heads * N ? k : chosen_row(heads, N, k);
    qsort(rows, count, sizeof *rows, by_number);
    return rows;
}

size_t attention_check_count(size_t heads, size_t N, double of_row, bool all)
{
    const size_t rows = heads * N;
    if (all || of_row * (double)rows <= ATTENTION_CHECK_ALL)
        return rows;
    const size_t fit = (size_t)(0.1 * ATTENTION_CHECK_ALL / of_row);
    const size_t wanted = 3 * heads < fit ? 3 * heads : fit;
    const size_t count = wanted > LEAST_ROWS ? wanted : LEAST_ROWS;
    return count < rows ? count : rows;
}

struct attention_check attention_check_begin(const struct attention_input *input, bool all)
{
    const struct attention *p = &input->p;
    const double of_row = 2.0 * (double)p->Nk * (double)p->d;
    struct attention_check c = { .shape = { p->B, p->H, p->Nq, p->d },
                                 .count = attention_check_count(p->B * p->H, p->Nq, of_row, all) };
    c.rows = attention_check_choose(p->B * p->H, p->Nq, c.count);
    c.O = allocate(c.count * p->d, sizeof *c.O, "the reference");
    c.lse = allocate(c.count, sizeof *c.lse, "the reference");
    for (size_t from = 0; from < c.count; from += AT_ONCE) {
        const size_t end = from + AT_ONCE < c.count ? from + AT_ONCE : c.count;
        if (c.count > AT_ONCE)
            progress("reference", from, c.count);
        PARALLEL(omp parallel for schedule(dynamic))
        for (size_t k = from; k < end; k++)
            rounding_forward_row(p, input->Q, input->K, input->V, c.rows[k] / p->Nq / p->H,
                                 c.rows[k] / p->Nq % p->H, c.rows[k] % p->Nq, c.O + k * p->d,
                                 c.lse + k);
    }
    if (c.count > AT_ONCE)
        progress("reference", c.count, c.count);
    return c;
}

void attention_check_end(struct attention_check *check)
{
    free(check->rows);
    free(check->O);
    free(check->lse);
    *check = (struct attention_check){ 0 };
}

float *attention_check_rows(const struct attention_check *check, const float *whole, size_t length)
{
    float *some = allocate(check->count * length, sizeof *some, "the rows to check");
    for (size_t k = 0; k < check->count; k++)
        memcpy(some + k * length, whole + check->rows[k] * length, length * sizeof *some);
    return some;
}

/* A head's `count` checked rows, starting at check->rows[first]. */
struct head {
    size_t first, count;
};

static struct head head_from(const struct attention_check *check, size_t first)
{
    const size_t Nq = check->shape[2];
    struct head head = { first, 0 };
    while (first + head.count < check->count &&
           check->rows[first + head.count] / Nq == check->rows[first] / Nq)
        head.count++;
    return head;
}

static struct comparison compare_head(const struct attention_check *check, struct head head,
                                      const char *with, const float *got,
                                      const struct exact *expected, struct axes axes)
{
    const size_t from = head.first * axes.row_length;
    axes.rows = check->rows + head.first;
    return (struct comparison){
        .with = with,
        .got = got + from,
        .expected = expected + from,
        .difference = difference_between(got + from, expected + from, head.count, axes.row_length),
        .axes = axes,
    };
}

static struct axes axes_of_output(const struct attention_check *check)
{
    return (struct axes){ 4, check->shape, "b, h, i, c", NULL, check->shape[3] };
}

struct comparison attention_check_output(const struct attention_check *check, const float *O)
{
    struct comparison worst = { 0 };
    for (struct head head = { 0 }; head.first < check->count; head.first += head.count) {
        head = head_from(check, head.first);
        comparison_keep_worse(&worst, compare_head(check, head, "double reference", O, check->O,
                                                   axes_of_output(check)));
    }
    return worst;
}

/*
 * Compares a head of O with a stage's; *worst keeps the worst. False if that stage did not write
 * this head, or is wrong.
 */
static bool compare_with_stage(struct comparison *worst, const struct attention_check *check,
                               struct head head, const char *name, const float *O,
                               const float *stage, struct exact *from_stage)
{
    const size_t d = check->shape[3], from = head.first * d, n = head.count * d;
    if (!stage || !is_explained(difference_between(stage + from, check->O + from, head.count, d)))
        return false;
    for (size_t k = from; k < from + n; k++)
        from_stage[k] = rounding_between(check->O[k], stage[k]);
    comparison_keep_worse(worst,
                          compare_head(check, head, name, O, from_stage, axes_of_output(check)));
    return true;
}

struct attention_verdict attention_verdict_of(const struct attention_check *check, const float *O,
                                              const float *lse, const char *name,
                                              const float *before)
{
    const struct axes of_lse = { 3, check->shape, "b, h, i", NULL, 1 };
    const size_t n = check->count * check->shape[3];
    struct attention_verdict v = { .reference = attention_check_output(check, O), .right = true };
    if (before)
        v.from_previous = allocate(n, sizeof *v.from_previous, "the stage before");
    if (check->other)
        v.from_other = allocate(n, sizeof *v.from_other, "another stage");
    for (struct head head = { 0 }; head.first < check->count; head.first += head.count) {
        head = head_from(check, head.first);
        if (lse)
            comparison_keep_worse(&v.lse,
                                  compare_head(check, head, "its lse", lse, check->lse, of_lse));
        compare_with_stage(&v.other, check, head, check->other_name, O, check->other, v.from_other);
        if (!compare_with_stage(&v.previous, check, head, name, O, before, v.from_previous))
            v.left_out += head.count;
    }
    const struct comparison *const all[] = { &v.reference, &v.lse, &v.other, &v.previous };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        v.right &= !all[k]->with || is_explained(all[k]->difference);
    return v;
}

static double largest_error(const struct comparison *c)
{
    return c->difference.mismatched ? (double)NAN : c->difference.max_abs;
}

struct attention_errors attention_verdict_end(struct attention_verdict *v)
{
    free(v->from_other);
    free(v->from_previous);
    return (struct attention_errors){
        .reference = largest_error(&v->reference),
        .other = largest_error(&v->other),
        .previous = largest_error(&v->previous),
        .has_previous = v->previous.with,
        .right = v->right,
    };
}

struct attention_errors attention_check_errors(const struct attention_check *check, const float *O,
                                               const float *lse, const float *before)
{
    struct attention_verdict v = attention_verdict_of(check, O, lse, "the stage before", before);
    return attention_verdict_end(&v);
}
