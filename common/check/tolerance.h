/*
 * How far from right is a result, where, and is that too far?
 *
 * The allowance is derived and not tuned. The textbook computation in the same precision
 * (plain.h), on the same input, has an error too. An implementation's rms error may be twice that,
 * its largest error four times that (gradients: three and six times), plus 8 ulp of the largest
 * reference value, because a largest error of a few ulp is luck.
 *
 * allowance_for is that, and the others add to it what their results cannot help: O goes by
 * allowance_for_output, lse by allowance_for_sums, a gradient by allowance_for_gradient, one that is stored in
 * 16 bits also by allowance_for_stored, and what is compared with the stage before by allowance_between.
 */
#ifndef COMMON_TOLERANCE_H
#define COMMON_TOLERANCE_H

#include "common/problem/dtype.h"

#include <stdbool.h>
#include <stddef.h>

enum mismatch {
    MATCHED,        // a difference could be formed at every element
    NEVER_WRITTEN,  // an element still holds the poison
    NOT_A_NUMBER,   // NaN where a number was expected, or a number where NaN was
    INFINITE,       // an infinity where none was expected, or the other way round
};

struct difference {
    size_t count;                  // elements compared
    double max_abs, max_rel, rms;  // over the elements that match; max_rel where expected != 0
    enum mismatch mismatch;        // the first one that is none …
    size_t mismatched;             // … and how many there are
    size_t worst;                  // index of the first mismatch, else of the largest error
    double got, expected;          // there
};

/* The larger one of two errors; NaN is worse than any number. */
double worse_error(double a, double b);

/* NaN equals NaN, and an infinity the same infinity; anything else that is not finite mismatches. */
struct difference difference_between(const float *got, const double *expected, size_t n);

struct allowance {
    double max_abs, rms;
};

enum direction { FORWARD, GRADIENT };

/* What an implementation is allowed, given what the textbook computation made of the same input. */
struct allowance allowance_for(const float *plain, const double *reference, size_t n,
                               enum direction direction);

/*
 * The same for n results that hang on few long sums: a row of softmax on one, a head of attention on
 * one a query. The textbook's error is then few throws of the dice, and may be next to nothing. A sum
 * of so many terms is off by something like sqrt(terms) half ulps, and that of the terms' usual size
 * `term` where they cancel out: sqrt(terms/sums) ulp of the largest result, or of a term, are allowed
 * besides.
 */
struct allowance allowance_for_sums(const float *plain, const double *reference, size_t n,
                                    size_t terms, size_t sums, double term);

/*
 * The same for outputs of attention with an lse of at most `lse`. That is the size of the scores that weigh:
 * another order of their sums rounds them otherwise, and moves each weight by half an ulp of it, of itself.
 */
struct allowance allowance_for_output(const float *plain, const double *reference, size_t n,
                                      size_t terms, size_t sums, double term, double lse);

/*
 * The allowance of a result of `type`: for one of 16 bits the ulp of the floor is that type's. Of the rms error
 * only one such ulp is forgiven: eight would be more than many a wrong result is off by.
 */
struct allowance allowance_of_type(struct allowance allowance, const double *reference, size_t n,
                                   enum dtype type);

/*
 * The same for a gradient that was computed again from a stored lse. Its sums have terms that cancel out, of
 * the usual size `term`: so its floor is 8 ulp of those, if they are larger than any result. And the lse, at
 * most `lse`, was rounded to float32: each weight e^{x - lse} is off by half that, of itself.
 */
struct allowance allowance_for_gradient(const float *plain, const double *reference, size_t n,
                                        double term, double lse);

/*
 * The allowance of a gradient for which weights, O and dS were rounded to `type` on the way. The textbook's were too, but
 * where a gradient hangs on few of them it may have had luck: an ulp of `type` is allowed besides, for a number as large as
 * `sum`. That is the usual size of a sum of the gradient's terms, with the weights that they have and signs by chance.
 */
struct allowance allowance_for_rounded_gradient(struct allowance allowance, double sum,
                                                enum dtype type);

/* The allowance of a result that was rounded to `type` at the end: each number is off by at most half an ulp more. */
struct allowance allowance_for_stored(struct allowance allowance, const double *reference, size_t n,
                                      enum dtype type);

/*
 * What two implementations of one thing may differ by: the allowance of the one under test plus
 * the error that the other was seen to have (the triangle inequality).
 */
struct allowance allowance_between(struct allowance allowance, struct difference other);

/* False for NaN, unmatched infinities, elements never written, and errors over the allowance. */
bool within(struct difference difference, struct allowance allowance);

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
    const double *expected;
    struct difference difference;
    struct allowance allowance;
    struct axes axes;
};

/* Keeps in *worst the first comparison that is wrong, else the one with the largest error. */
void comparison_keep_worse(struct comparison *worst, struct comparison c);

/* "81, 3": the coordinates of element `index` of an array of this shape; returns `text`. */
char *place_of(size_t index, int dims, const size_t *shape, char *text, size_t size);

#endif
