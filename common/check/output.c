#include "common/check/output.h"

#include <math.h>

enum { DIGITS = 9 };

size_t output_size(const struct output *o)
{
    size_t n = 1;
    for (int k = 0; k < o->dims; k++)
        n *= o->shape[k];
    return n;
}

struct difference difference_between_heads(const float *got, const struct exact *expected,
                                           size_t heads, size_t rows, size_t cols)
{
    const size_t n = rows * cols;
    struct comparison worst = { .with = NULL };
    for (size_t first = 0; first < heads * n; first += n) {
        struct difference d = difference_between(got + first, expected + first, rows, cols);
        d.worst += first;
        d.farthest += first;
        comparison_keep_worse(&worst, (struct comparison){ .with = "a head", .difference = d });
    }
    return worst.difference;
}

struct difference output_difference(const struct output *o)
{
    return difference_between_heads(o->x, o->right, output_size(o) / (o->rows * o->cols), o->rows,
                                    o->cols);
}

enum dtype output_dtype(const float *x, size_t n)
{
    bool fits[DTYPES] = { true, true, true }, are_equal = true;
    for (size_t k = 0; k < n; k++) {
        are_equal &= isnan(x[k]) || x[k] == x[0];
        for (enum dtype t = DTYPE_BF16; t <= DTYPE_F16; t++)
            fits[t] &= isnan(x[k]) || dtype_round(t, x[k]) == x[k];
    }
    return are_equal          ? DTYPES
           : fits[DTYPE_BF16] ? DTYPE_BF16
           : fits[DTYPE_F16]  ? DTYPE_F16
                              : DTYPE_F32;
}

const char *dtype_words(enum dtype type)
{
    return type == DTYPE_F16 ? "float16" : type == DTYPE_BF16 ? "bfloat16" : "float32";
}

void output_heading(FILE *to, bool has_stage)
{
    fprintf(to, "\n%-6s %16s %20s%s\n", "", "absolute error", "of rounding's limit",
            has_stage ? "        the stage" : "");
}

/* Prints the element that is farthest off, in units of what rounding explains. */
static void print_farthest(FILE *to, const struct output *o, const struct difference *d)
{
    static const char *const of[] = { [OF_ELEMENT] = "that element",
                                      [OF_ROW] = "its row",
                                      [OF_COLUMN] = "its column",
                                      [OF_HEAD] = "its head" };
    const size_t at = d->mismatched ? d->worst : d->farthest;
    char place[100];
    fprintf(to, "    at %s = %s: yours %.*g, ", o->axes,
            coordinates_of(at, o->dims, o->shape, place, sizeof place), DIGITS, (double)o->x[at]);
    if (o->stage)
        fprintf(to, "the stage's %.*g, ", DIGITS, (double)o->stage[at]);
    fprintf(to, "the reference's %.*g\n", DIGITS, o->right[at].value);
    if (d->mismatched)
        fprintf(to, "    elements that differ in NaN or infinity, or were not written: %zu\n",
                d->mismatched);
    else
        fprintf(to, "    %s is off by %.3g times what rounding explains\n", of[d->extent],
                d->explained);
}

/* The largest difference of finite numbers from the stage, or from what is right. */
static double largest(const struct output *o, bool from_stage)
{
    double most = 0.0;
    for (size_t k = 0; k < output_size(o); k++) {
        const double from = from_stage ? (double)o->stage[k] : o->right[k].value;
        if (isfinite(o->x[k]) && isfinite(from))
            most = fmax(most, fabs((double)o->x[k] - from));
    }
    return most;
}

void output_print(FILE *to, const struct output *o, const struct difference *d, bool has_stage)
{
    char error[40] = "mismatch", explained[40] = "-", stage[40] = "-";
    if (!d->mismatched) {
        snprintf(error, sizeof error, "%.2e", largest(o, false));
        snprintf(explained, sizeof explained, d->explained < 10.0 ? "%.2f" : "%.3g", d->explained);
    }
    if (o->stage)
        snprintf(stage, sizeof stage, "%.2e", largest(o, true));
    fprintf(to, "%-6s %16s %20s", o->name, error, explained);
    if (has_stage)
        fprintf(to, " %16s", stage);
    fprintf(to, "   %s\n", is_explained(*d) ? "ok" : "WRONG");
    if (!is_explained(*d))
        print_farthest(to, o, d);
}

/* "12 of 65 rows, 32 to 43", and whether the first is a multiple of a tile. */
static void print_range(FILE *to, const char *of, size_t count, const size_t range[2], size_t all)
{
    size_t tile = 256;
    while (tile > 8 && range[0] % tile)
        tile /= 2;
    if (count == 1)
        fprintf(to, "%s %zu of %zu", of, range[0], all);
    else
        fprintf(to, "%zu of %zu %ss, %zu to %zu", count, all, of, range[0], range[1]);
    if (range[0] && tile > 8)
        fprintf(to, " (a tile of %zu begins at %zu)", tile, range[0]);
}

void output_print_first(FILE *to, const struct output *o)
{
    const size_t n = o->rows * o->cols, heads = output_size(o) / n;
    size_t head = 0, wrong_heads = 0, rows = 0, columns = 0;
    size_t row[2] = { 0 }, column[2] = { 0 };
    char place[100];
    for (size_t h = heads; h-- > 0;)
        if (!is_explained(difference_between(o->x + h * n, o->right + h * n, o->rows, o->cols)))
            head = h, wrong_heads++;
    const float *const x = o->x + head * n;
    const struct exact *const right = o->right + head * n;
    for (size_t i = 0; i < o->rows; i++)
        if (!is_explained(difference_between(x + i * o->cols, right + i * o->cols, 1, o->cols))) {
            row[rows++ > 0] = i;
            row[1] = i;
        }
    for (size_t c = 0; c < o->cols && rows > 0; c++) {
        size_t i = row[0];
        while (i <= row[1] &&
               is_explained(difference_between(x + i * o->cols + c, right + i * o->cols + c, 1, 1)))
            i++;
        if (i <= row[1]) {
            column[columns++ > 0] = c;
            column[1] = c;
        }
    }
    if (rows == 0)
        return;
    fprintf(to, "    first wrong at %s = %s: ", o->axes,
            coordinates_of(head * n + row[0] * o->cols + column[0], o->dims, o->shape, place,
                           sizeof place));
    if (heads > 1)
        fprintf(to, "%zu of %zu heads; in its head ", wrong_heads, heads);
    print_range(to, "row", rows, row, o->rows);
    if (o->cols > 1 && columns > 0) {
        fprintf(to, ", ");
        print_range(to, "column", columns, column, o->cols);
    }
    fprintf(to, "\n");
}
