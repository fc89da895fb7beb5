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

/* z of some elements: the sum of its squares, and the largest, at index `at`. */
struct errors {
    double squares, most;
    size_t at;
};

static void errors_add(struct errors *e, double squares, double z, size_t at)
{
    e->squares += squares;
    if (!(z <= e->most))
        e->most = z, e->at = at;
}

struct difference difference_between(const float *got, const struct exact *expected, size_t rows,
                                     size_t cols)
{
    struct difference d = { .max_abs = 0.0 };
    struct errors *columns = allocate(cols, sizeof *columns, "sums over columns"), head = { 0 };
    size_t distinct = 0;
    for (size_t c = 0; c < cols; c++)
        columns[c] = (struct errors){ .at = c };
    for (size_t i = 0; i < rows; i++) {
        struct errors row = { .at = i * cols };
        distinct += is_new(expected, i, cols);
        for (size_t c = 0; c < cols; c++) {
            const size_t k = i * cols + c;
            const double z = record_element(&d, k, got[k], expected[k]);
            errors_add(&row, z * z, z, k);
            errors_add(&columns[c], z * z, z, k);
        }
        errors_add(&head, row.squares, row.most, row.at);
        measure(&d, OF_ROW, row.squares, cols, row.at);
    }
    // Equal rows count once. With one distinct row a column is no more than an element, and a head
    // no more than a row.
    const double part = (double)distinct / (double)rows;
    for (size_t c = 0; c < (distinct > 1 ? cols : 0); c++)
        measure(&d, OF_COLUMN, part * columns[c].squares, distinct, columns[c].at);
    if (distinct > 1)
        measure(&d, OF_HEAD, part * head.squares, distinct * cols, head.at);
    free(columns);
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

/* How many of the first `count` rows are in the first one's head. */
static size_t rows_of_head(const struct axes *axes, size_t count)
{
    const size_t N = axes->shape[2];
    size_t n = 1;
    while (n < count && axes->rows[n] / N == axes->rows[0] / N)
        n++;
    return n;
}

struct exact rounding_between(struct exact exact, float other)
{
    return (struct exact){ (double)other, sqrt(2.0) * exact.sigma, 2.0 * exact.bias };
}

size_t compare_heads(struct axes axes, size_t count, const char *with, const float *got,
                     const struct exact *expected, const float *stage, struct comparison *worst,
                     struct exact **given)
{
    const size_t cols = axes.row_length;
    const struct exact *right = expected;
    size_t left_out = 0;
    if (stage)
        right = *given = allocate(count * cols, sizeof **given, "what is expected of a stage");
    for (size_t k = 0; k < (stage ? count * cols : 0); k++)
        (*given)[k] = rounding_between(expected[k], stage[k]);
    for (size_t first = 0, rows; first < count; first += rows, axes.rows += rows) {
        const size_t from = first * cols;
        rows = rows_of_head(&axes, count - first);
        if (stage && !is_explained(difference_between(stage + from, expected + from, rows, cols)))
            left_out += rows;
        else
            comparison_keep_worse(
                worst, (struct comparison){
                           .with = with,
                           .got = got + from,
                           .expected = right + from,
                           .difference = difference_between(got + from, right + from, rows, cols),
                           .axes = axes });
    }
    return left_out;
}

char *coordinates_of(size_t index, int dims, const size_t *shape, char *text, size_t size)
{
    size_t used = 0, below = 1;  // elements for each step of the coordinate
    for (int k = 0; k < dims; k++)
        below *= shape[k];
    for (int k = 0; k < dims && used < size; k++) {
        below /= shape[k];
        used += (size_t)snprintf(text + used, size - used, k ? ", %zu" : "%zu",
                                 index / below % shape[k]);
    }
    return text;
}
