/*
 * Are the gradients of an attention right? They are held against the double precision reference and against
 * the stage before, head by head.
 */
#ifndef COMMON_GRADIENT_CHECK_H
#define COMMON_GRADIENT_CHECK_H

#include "common/check/attention_check.h"

enum { DQ, DK, DV, GRADIENTS };

/*
 * What can be wrong with a gradient for no fault of its maker's (tolerance.h): `size` is that of a usual term with a weight
 * of 1, `rounded` that of a usual sum of such terms, with the weights that they have and signs by chance.
 */
struct gradient_terms {
    double size[GRADIENTS], rounded[GRADIENTS], lse;
};
struct gradient_terms gradient_terms_of(const struct attention *p, const float *Q, const float *K,
                                        const float *V, const float *dO);

/* Some rows of the gradients: which, and what the reference and the textbook have for them. */
struct gradient_check {
    struct gradient_terms terms;
    enum dtype type;  // of the inputs, and of what is rounded on the way
    enum dtype
        stored;  // in which the gradients were stored: float32, unless a maker says otherwise
    size_t shape[GRADIENTS][4];  // (B, H, Nq, d), and (B, Hkv, Nk, d) twice
    size_t count[GRADIENTS];     // of rows
    size_t *rows[GRADIENTS];     // (b heads + h) N + row of each
    double *right[GRADIENTS];    // (count, d) each: the reference
    float *plain[GRADIENTS];     // the same from the textbook in float32
};

/* Of a large problem: so many rows of dQ, and of dK and dV, unless all are asked for. */
enum { GRADIENT_CHECK_ROWS = 64, GRADIENT_CHECK_KEYS = 16 };

/* Works out what is right: for all rows if they are few or `all` is true, else for some. */
struct gradient_check gradient_check_begin(const struct attention_input *input, const float *dO,
                                           bool all);
void gradient_check_end(struct gradient_check *check);

/* Gradient g, of the worst head: against the reference, and against the stage before if there is one. */
struct gradient_pair {
    struct comparison reference, previous;  // `with` is NULL where there is none
    const char *name;                       // of the stage before
    double *wide;                           // that stage in double
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
