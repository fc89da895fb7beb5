/*
 * attention_check.h for the backward pass: checks dQ, dK and dV of one run, head by head.
 */
#ifndef COMMON_GRADIENT_CHECK_H
#define COMMON_GRADIENT_CHECK_H

#include "common/check/attention_check.h"

enum { DQ, DK, DV, GRADIENTS };

struct gradient_check {
    enum dtype stored;           // type of stored gradients; float32 by default
    size_t shape[GRADIENTS][4];  // (B, H, Nq, d), and (B, Hkv, Nk, d) twice
    size_t count[GRADIENTS];
    size_t *rows[GRADIENTS];         // (b heads + h) N + row of each, ascending
    struct exact *right[GRADIENTS];  // (count, d) each
};

/*
 * Computes the expected rows: all for small problems or with `all`. Otherwise rows of dQ, chosen as
 * for O, and 16 rows of dK and dV in one head.
 */
struct gradient_check gradient_check_begin(const struct attention_input *input, const float *dO,
                                           bool all);
void gradient_check_end(struct gradient_check *check);

/* The worst head of one gradient, against the reference and the previous stage. */
struct gradient_pair {
    struct comparison reference, previous;  // `with` is NULL where there is none
    struct exact *right;                    // expected values in the stored type
    struct exact *from_previous;            // expected values, given that stage's result
    float *got, *before;                    // the checked rows
};
struct gradient_verdict {
    struct gradient_pair pairs[GRADIENTS];
};

/* Compares whole gradients; `before` (or NULL) has those of the stage `name`. */
struct gradient_verdict gradient_verdict_of(const struct gradient_check *check,
                                            float *const got[GRADIENTS], const char *name,
                                            float *const before[GRADIENTS]);

/* Frees the verdict and returns the largest of all errors. */
struct attention_errors gradient_verdict_end(struct gradient_verdict *v);

/* The larger of two errors; NaN is the largest. */
double larger_error(double a, double b);

/* Both at once. */
struct attention_errors gradient_check_errors(const struct gradient_check *check,
                                              float *const got[GRADIENTS],
                                              float *const before[GRADIENTS]);

#endif
