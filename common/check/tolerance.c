#include "common/check/tolerance.h"

#include "common/cpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LIMIT_OF_ELEMENT = 10.0;
static const double LIMIT_OF_MANY[] = { [OF_ROW] = 3.0, [OF_COLUMN] = 4.0, [OF_HEAD] = 2.0 };

static enum mismatch mismatch_of(float got, double expected)
{
    if (is_poison(got))
        return NEVER_WRITTEN;
    if (isnan(got) != isnan(expected))
        return NOT_A_NUMBER;
    if ((isinf(got) || isinf(expected)) && (double)got != expected)
        return INFINITE;
    return MATCHED;
}

/* Keeps the largest error relative to its limit; NaN is the largest. */
static void keep_largest(struct difference *d, double explained, enum extent extent,
                         size_t farthest)
{
    if (explained <= d->explained)
        return;
    d->explained = isnan(explained) ? (double)INFINITY : explained;
    d->extent = extent;
    d->farthest = farthest;
}

/* Enters element k into d; returns its z. */
static double record_element(struct difference *d, size_t k, float got, struct exact expected)
{
    const enum mismatch mismatch = mismatch_of(got, expected.value);
    const bool first_mismatch = mismatch && d->mismatched++ == 0, counts = d->mismatched == 0;
    const double error =
        mismatch || !isfinite(expected.value) ? 0.0 : fabs((double)got - expected.value);
    if (first_mismatch || (counts && (k == 0 || error > d->max_abs))) {
        d->mismatch = mismatch;
        d->worst = k;
        d->got = (double)got;
        d->expected = expected.value;
    }
    d->max_abs = fmax(d->max_abs, error);
    if (error == 0.0)
        return 0.0;
    keep_largest(d, error / (expected.bias + LIMIT_OF_ELEMENT * expected.sigma), OF_ELEMENT, k);
    return error <= expected.bias ? 0.0 : (error - expected.bias) / expected.sigma;
}

double larger_error(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/*
 * Compares the root mean square of n independent z, with sum of squares `squares`, with its
 * limit.
 */
static void measure(struct difference *d, enum extent extent, double squares, size_t n,
                    size_t farthest)
{
    const double most =
        LIMIT_OF_MANY[extent] + (LIMIT_OF_ELEMENT - LIMIT_OF_MANY[extent]) / sqrt((double)n);
    keep_largest(d, sqrt(squares / (double)n) / most, extent, farthest);
}

/* Does row i differ from the one before? Equal queries have equal errors. */
static bool is_new(const struct exact *expected, size_t i, size_t cols)
{
    for (size_t c = 0; c < cols; c++)
        if (i == 0 || expected[i * cols + c].value != expected[(i - 1) * cols + c].value)
            return true;
    return false;
}

struct difference difference_between(const float *got, const struct exact *expected, size_t rows,
                                     size_t cols)
{
    struct difference d = { .max_abs = 0.0 };
    double *columns = allocate(cols, sizeof *columns, "sums over columns"), head = 0.0, most = 0.0;
    double *most_of = allocate(cols, sizeof *most_of, "the largest errors of columns");
    size_t *at = allocate(cols, sizeof *at, "their places"), distinct = 0, farthest = 0;
    for (size_t c = 0; c < cols; c++)
        columns[c] = most_of[c] = 0.0, at[c] = c;
    for (size_t i = 0; i < rows; i++) {
        double row = 0.0, most_of_row = 0.0;
        size_t in_row = i * cols;
        distinct += is_new(expected, i, cols);
        for (size_t c = 0; c < cols; c++) {
            const size_t k = i * cols + c;
            const double z = record_element(&d, k, got[k], expected[k]);
            row += z * z;
            columns[c] += z * z;
            if (!(z <= most_of_row))
                most_of_row = z, in_row = k;
            if (!(z <= most_of[c]))
                most_of[c] = z, at[c] = k;
        }
        head += row;
        if (!(most_of_row <= most))
            most = most_of_row, farthest = in_row;
        measure(&d, OF_ROW, row, cols, in_row);
    }
    // Equal rows count once. With one distinct row a column is no more than an element, and a head
    // no more than a row.
    const double part = (double)distinct / (double)rows;
    for (size_t c = 0; c < (distinct > 1 ? cols : 0); c++)
        measure(&d, OF_COLUMN, part * columns[c], distinct, at[c]);
    if (distinct > 1)
        measure(&d, OF_HEAD, part * head, distinct * cols, farthest);
    free(columns);
    free(most_of);
    free(at);
    return d;
}

bool is_explained(struct difference difference)
{
    return difference.mismatched == 0 && difference.explained <= 1.0;
}

void comparison_keep_worse(struct comparison *worst, struct comparison c)
{
    const double explained = fmax(worst->difference.explained, c.difference.explained);
    if (worst->with && !is_explained(worst->difference))
        return;
    if (!worst->with || !is_explained(c.difference) ||
        c.difference.max_abs > worst->difference.max_abs)
        *worst = c;
    worst->difference.explained = explained;
}

double comparison_error(const struct comparison *c)
{
    return c->difference.mismatched ? (double)NAN : c->difference.max_abs;
}

/* The number of rows, from number `first` on, that are in its head. */
static size_t rows_of_head(const struct axes *axes, size_t first, size_t count)
{
    const size_t N = axes->shape[2];
    size_t n = 1;
    while (first + n < count && axes->rows[first + n] / N == axes->rows[first] / N)
        n++;
    return n;
}

static void compare_head(struct comparison *worst, struct axes axes, size_t first, size_t rows,
                         const char *with, const float *got, const struct exact *expected)
{
    const size_t cols = axes.row_length, from = first * cols;
    axes.rows += first;
    comparison_keep_worse(worst, (struct comparison){ .with = with,
                                                      .got = got + from,
                                                      .expected = expected + from,
                                                      .difference = difference_between(
                                                          got + from, expected + from, rows, cols),
                                                      .axes = axes });
}

struct comparison compare_heads(struct axes axes, size_t count, const char *with, const float *got,
                                const struct exact *expected)
{
    struct comparison worst = { .with = NULL };
    for (size_t first = 0, rows; first < count; first += rows) {
        rows = rows_of_head(&axes, first, count);
        compare_head(&worst, axes, first, rows, with, got, expected);
    }
    return worst;
}

struct exact rounding_between(struct exact exact, float other)
{
    return (struct exact){ (double)other, sqrt(2.0) * exact.sigma, 2.0 * exact.bias };
}

size_t compare_with_stage(struct axes axes, size_t count, const char *with, const float *got,
                          const struct exact *expected, const float *stage,
                          struct comparison *worst, struct exact **given)
{
    const size_t cols = axes.row_length;
    size_t left_out = 0;
    *given = allocate(count * cols, sizeof **given, "what is expected given another stage");
    for (size_t first = 0, rows; first < count; first += rows) {
        const size_t from = first * cols;
        rows = rows_of_head(&axes, first, count);
        if (!is_explained(difference_between(stage + from, expected + from, rows, cols))) {
            left_out += rows;
            continue;
        }
        for (size_t k = from; k < from + rows * cols; k++)
            (*given)[k] = rounding_between(expected[k], stage[k]);
        compare_head(worst, axes, first, rows, with, got, *given);
    }
    return left_out;
}

char *coordinates_of(size_t index, int dims, const size_t *shape, char *text, size_t size)
{
    size_t coordinate[8] = { 0 };
    for (int k = dims - 1; k >= 0; k--) {
        coordinate[k] = index % shape[k];
        index /= shape[k];
    }
    size_t used = 0;
    for (int k = 0; k < dims && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, k ? ", %zu" : "%zu", coordinate[k]);
    return text;
}
