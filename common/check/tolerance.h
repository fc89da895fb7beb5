/*
 * The verdict: where and how far is a result from correct, and does rounding explain it?
 *
 * With sigma and bias of rounding.h, z = max(0, (|error| - bias) / sigma). A result is correct if
 *
 *     z                                        is at most 10 at each element,
 *     the root mean square of z over a row     is at most 3 for a long row,
 *     over a column of a head                  at most 4 for a long column,
 *     over a whole head                        at most 2 for a large head.
 *
 * The limit for n independent elements is base + (10 - base) / sqrt(n). Correct results of all
 * programs stay below three quarters of these limits, even on difficult inputs
 * (common/results/checks.md). A stage is a chapter's program or one of its steps.
 */
#ifndef COMMON_TOLERANCE_H
#define COMMON_TOLERANCE_H

#include "common/check/rounding.h"

#include <stdbool.h>
#include <stddef.h>

enum mismatch {
    MATCHED,
    NEVER_WRITTEN,  // an element still has poison_fill's NaN
    NOT_A_NUMBER,   // NaN where a number is expected, or vice versa
    INFINITE,       // an infinity where none is expected, or vice versa
};

/* What exceeds its limit, or is closest to it. */
enum extent { OF_ELEMENT, OF_ROW, OF_COLUMN, OF_HEAD };

struct difference {
    double max_abs;          // over the elements that match
    enum mismatch mismatch;  // the first, if any
    size_t mismatched;       // their number
    size_t worst;            // index of the first mismatch, else of the largest error
    size_t farthest;         // index of the largest z in the row or column of `extent`
    double got, expected;
    double explained;    // the largest error relative to its limit: over 1 is wrong
    enum extent extent;  // of `explained`
};

/*
 * A head, or a part of it: `rows` rows of `cols` elements. NaN equals NaN, an infinity equals
 * itself; other non-finite values mismatch.
 */
struct difference difference_between(const float *got, const struct exact *expected, size_t rows,
                                     size_t cols);

/* False for NaN, unmatched infinities, unwritten elements, and errors above the limit. */
bool is_explained(struct difference difference);

/*
 * A result's shape and axis names: "row, column". If only some rows of it are given, `rows` has
 * their numbers and `row_length` their elements.
 */
struct axes {
    int dims;
    const size_t *shape;
    const char *names;
    const size_t *rows;  // NULL: all rows
    size_t row_length;
};

struct comparison {
    const char *of;    // "dQ", or NULL for a single result
    const char *with;  // "double reference"; NULL: nothing was compared
    const float *got;
    const struct exact *expected;
    struct difference difference;
    struct axes axes;
};

/* Keeps the first wrong comparison in *worst, otherwise the one with the largest error. */
void comparison_keep_worse(struct comparison *worst, struct comparison c);

/* Its largest error; NaN if an element mismatches, 0 if nothing was compared. */
double comparison_error(const struct comparison *c);

/* The expected value given another result, `other`, that should be equal: both are rounded. */
struct exact rounding_between(struct exact exact, float other);

/*
 * Compares some rows of an array, axes.rows with their `count` numbers, and keeps the worst head in
 * *worst. With a `stage`, unless it is NULL: against what is expected given its result, which goes
 * into a new *given. Leaves out heads that `stage` has wrong or never wrote; returns how many rows
 * these have.
 */
size_t compare_heads(struct axes axes, size_t count, const char *with, const float *got,
                     const struct exact *expected, const float *stage, struct comparison *worst,
                     struct exact **given);

/* "81, 3": the coordinates of element `index` of an array of this shape; returns `text`. */
char *coordinates_of(size_t index, int dims, const size_t *shape, char *text, size_t size);

#endif
