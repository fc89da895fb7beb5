/*
 * How far from right is a result, where, and is that more than rounding explains?
 *
 * rounding.h gives for each element its exact value, sigma and bias. Then z = (|error| - bias) / sigma, or 0 if that is
 * negative, is an error in units of what rounding does to that element, however large its neighbours are. A result is
 * right if
 *
 *     z                                        is at most 10 at each element,
 *     the root mean square of z over a row     is at most 3 for a long row,
 *     over a column of a head                  at most 4 for a long column,
 *     over a whole head                        at most 2 for a large head.
 *
 * A mean of few elements may be larger: of n independent ones base + (10 - base) / sqrt(n). Right results of all
 * programs, on random and on difficult inputs, stay below three quarters of these limits (common/results/checks.md).
 */
#ifndef COMMON_TOLERANCE_H
#define COMMON_TOLERANCE_H

#include "common/check/rounding.h"

#include <stdbool.h>
#include <stddef.h>

enum mismatch {
    MATCHED,        // a difference could be formed at every element
    NEVER_WRITTEN,  // an element still holds the poison
    NOT_A_NUMBER,   // NaN where a number was expected, or a number where NaN was
    INFINITE,       // an infinity where none was expected, or the other way round
};

/* Of what the error is larger than rounding explains, or nearest to that. */
enum extent { OF_ELEMENT, OF_ROW, OF_COLUMN, OF_HEAD };

struct difference {
    double max_abs;          // the largest error of the elements that match
    enum mismatch mismatch;  // the first one that is none …
    size_t mismatched;       // … and how many there are
    size_t worst;            // index of the first mismatch, else of the largest error …
    size_t farthest;         // … and of the largest z, in the row or column that is off
    double got, expected;    // at `worst`
    double explained;        // the error in units of what rounding explains: over 1 is wrong
    enum extent extent;      // of what
};

/* The larger one of two errors; NaN is worse than any number. */
double worse_error(double a, double b);

/*
 * A head, or a part of it: `rows` rows of `cols` elements. NaN equals NaN, and an infinity the same infinity; anything
 * else that is not finite mismatches.
 */
struct difference difference_between(const float *got, const struct exact *expected, size_t rows,
                                     size_t cols);

/* The same of several heads, one after the other: the worst of them, with its places in the whole. */
struct difference difference_between_heads(const float *got, const struct exact *expected,
                                           size_t heads, size_t rows, size_t cols);

/* False for NaN, unmatched infinities, elements never written, and errors that rounding does not explain. */
bool is_explained(struct difference difference);

/*
 * The shape of a result, and what its axes are called: "row, column". Where only some rows of it
 * are at hand, one after the other, `rows` has their numbers and `row_length` their elements.
 */
struct axes {
    int dims;
    const size_t *shape;
    const char *names;
    const size_t *rows;  // or NULL: all of it is there
    size_t row_length;
};

/* A result and what it should be. */
struct comparison {
    const char *of;    // "dQ", or NULL: there is one result only
    const char *with;  // "double reference"
    const float *got;
    const struct exact *expected;
    struct difference difference;
    struct axes axes;
};

/* Keeps in *worst the first comparison that is wrong, else the one with the largest error. */
void comparison_keep_worse(struct comparison *worst, struct comparison c);

/* "81, 3": the coordinates of element `index` of an array of this shape; returns `text`. */
char *place_of(size_t index, int dims, const size_t *shape, char *text, size_t size);

#endif
