/*
 * Are the gradients of an attention right? They are held against the double precision reference and against
 * the stage before, head by head.
 */
#ifndef COMMON_GRADIENT_CHECK_H
#define COMMON_GRADIENT_CHECK_H

#include "common/check/attention_check.h"

enum { DQ, DK, DV, GRADIENTS };

/* Some rows of the gradients: which, and what they should be. */
struct gradient_check {
    enum dtype stored;  // in which gradients are stored: float32, unless a maker says otherwise
    size_t shape[GRADIENTS][4];      // (B, H, Nq, d), and (B, Hkv, Nk, d) twice
    size_t count[GRADIENTS];         // of rows
    size_t *rows[GRADIENTS];         // (b heads + h) N + row of each, in order
    struct exact *right[GRADIENTS];  // (count, d) each
};

/*
 * Works out what is right: for all rows if they are few or `all` is true. Else for some rows of dQ, chosen as those of
 * O are, and for 16 rows of dK and dV, which lie in one head.
 */
struct gradient_check gradient_check_begin(const struct attention_input *input, const float *dO,
                                           bool all);
void gradient_check_end(struct gradient_check *check);

/* Gradient g, of the worst head: against the reference, and against the stage before if there is one. */
struct gradient_pair {
    struct comparison reference, previous;  // `with` is NULL where there is none
    const char *name;                       // of the stage before
    struct exact *right;                    // what it should be, stored as it is
    struct exact *from_previous;            // what that stage leads us to expect
    float *got, *before;                    // the checked rows
};
struct gradient_verdict {
    struct gradient_pair pairs[GRADIENTS];
};

/* Compares whole gradients; `before`, unless it is NULL, has those of the stage called `name`. */
struct gradient_verdict gradient_verdict_of(const struct gradient_check *check,
                                            float *const got[GRADIENTS], const char *name,
                                            float *const before[GRADIENTS]);

/* Frees what belongs to the verdict; what remains of it are the errors, the largest of the three gradients. */
struct attention_errors gradient_verdict_end(struct gradient_verdict *v);

/* Both at once, where nothing is printed. */
struct attention_errors gradient_check_errors(const struct gradient_check *check,
                                              float *const got[GRADIENTS],
                                              float *const before[GRADIENTS]);

#endif
