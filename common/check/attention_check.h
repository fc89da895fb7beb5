/*
 * Checks O and lse of one run: compares them with what rounding.h expects and with the previous
 * stage (tolerance.h): all rows or, for large problems, some.
 */
#ifndef COMMON_ATTENTION_CHECK_H
#define COMMON_ATTENTION_CHECK_H

#include "common/check/tolerance.h"
#include "common/problem/attention_input.h"

#include <stdbool.h>
#include <stddef.h>

struct attention_check {
    size_t shape[4];  // of O: (B, H, Nq, d)
    size_t count;
    size_t *rows;            // (b H + h) Nq + i of each checked row, ascending
    struct exact *O, *lse;   // (count, d) and (count)
    const char *other_name;  // another stage to compare O with, or NULL
    const float *other;      // its O: (count, d)
};

/* Problems with more multiply-adds are checked in part. */
static const double ATTENTION_CHECK_ALL = 4e9;

/*
 * Computes the expected rows: all for small problems or with `all`. Otherwise three per head, as
 * many as fit into a tenth of ATTENTION_CHECK_ALL, but at least 64: the first row of each head, the
 * last row of each, then random ones.
 */
struct attention_check attention_check_begin(const struct attention_input *input, bool all);
void attention_check_end(struct attention_check *check);

/* The largest errors; NaN if an element mismatches (tolerance.h). */
struct attention_errors {
    double reference, other, previous;
    bool has_previous;  // the previous stage supports at least one head
    bool right;
};

/* The worst head of each comparison. */
struct attention_verdict {
    struct comparison reference, lse, other, previous;  // `with` is NULL where there is none
    size_t left_out;  // rows that the previous stage does not support
    bool right;
    struct exact *from_other, *from_previous;  // expected values, given those stages' results
};

/*
 * O and lse have the checked rows: (count, d), (count); lse may be NULL. `before` (or NULL) is O of
 * the stage `name`; heads that it left poisoned or wrong are skipped as unsupported.
 */
struct attention_verdict attention_verdict_of(const struct attention_check *check, const float *O,
                                              const float *lse, const char *name,
                                              const float *before);

/* Frees the verdict and returns its errors. */
struct attention_errors attention_verdict_end(struct attention_verdict v);

/* The rows to check, ascending; all if count = heads N. free() them. */
size_t *attention_check_choose(size_t heads, size_t N, size_t count);

/* The number of rows to check, if each costs `of_row` multiply-adds. */
size_t attention_check_count(size_t heads, size_t N, double of_row, bool all);

/* The rows of these numbers of a whole array with `length` elements a row; free() them. */
float *rows_copied(const size_t *rows, size_t count, const float *whole, size_t length);

/* The checked rows of a whole result with `length` elements a row; free() them. */
float *attention_check_rows(const struct attention_check *check, const float *whole, size_t length);

#endif
