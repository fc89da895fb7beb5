#include "common/check/attention_check.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 20, STREAM = 9, LEAST_ROWS = 64 };

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
    PARALLEL(omp parallel for schedule(dynamic))
    for (size_t k = 0; k < c.count; k++)
        rounding_forward_row(p, input->Q, input->K, input->V, c.rows[k] / p->Nq / p->H,
                             c.rows[k] / p->Nq % p->H, c.rows[k] % p->Nq, c.O + k * p->d,
                             c.lse + k);
    return c;
}

void attention_check_end(struct attention_check *check)
{
    free(check->rows);
    free(check->O);
    free(check->lse);
    *check = (struct attention_check){ 0 };
}

float *rows_copied(const size_t *rows, size_t count, const float *whole, size_t length)
{
    float *some = allocate(count * length, sizeof *some, "the rows to check");
    for (size_t k = 0; k < count; k++)
        memcpy(some + k * length, whole + rows[k] * length, length * sizeof *some);
    return some;
}

float *attention_check_rows(const struct attention_check *check, const float *whole, size_t length)
{
    return rows_copied(check->rows, check->count, whole, length);
}

struct attention_verdict attention_verdict_of(const struct attention_check *check, const float *O,
                                              const float *lse, const char *name,
                                              const float *before)
{
    const size_t count = check->count, d = check->shape[3];
    const struct axes of_O = { 4, check->shape, "b, h, i, c", check->rows, d };
    const struct axes of_lse = { 3, check->shape, "b, h, i", check->rows, 1 };
    struct attention_verdict v = { .left_out = count, .right = true };
    compare_heads(of_O, count, "double reference", O, check->O, NULL, &v.reference, NULL);
    if (lse)
        compare_heads(of_lse, count, "its lse", lse, check->lse, NULL, &v.lse, NULL);
    if (check->other)
        compare_heads(of_O, count, check->other_name, O, check->O, check->other, &v.other,
                      &v.from_other);
    if (before)
        v.left_out =
            compare_heads(of_O, count, name, O, check->O, before, &v.previous, &v.from_previous);
    const struct comparison *const all[] = { &v.reference, &v.lse, &v.other, &v.previous };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        v.right &= !all[k]->with || is_explained(all[k]->difference);
    return v;
}

struct attention_errors attention_verdict_end(struct attention_verdict v)
{
    free(v.from_other);
    free(v.from_previous);
    return (struct attention_errors){
        .reference = comparison_error(&v.reference),
        .other = comparison_error(&v.other),
        .previous = comparison_error(&v.previous),
        .has_previous = v.previous.with,
        .right = v.right,
    };
}
