/*
 * What softmax keeps of a block of a row, and how the states of two blocks are merged.
 */
#ifndef SOFTMAX_STATE_H
#define SOFTMAX_STATE_H

#include <math.h>
#include <stddef.h>

/* The maximum m of some scores, and l = sum of e^{x - m} over them. */
struct softmax_state {
    float m, l;
};

/* No scores at all: merging it in changes nothing. */
static const struct softmax_state SOFTMAX_EMPTY = { -INFINITY, 0.0f };

/*
 * e^{x - m} for a maximum m, so x <= m. Where x = -inf the answer is 0, also when m = -inf too:
 * the subtraction alone would make that one -inf + inf = NaN.
 */
static inline float exp_minus(float x, float m)
{
    return x == -INFINITY ? 0.0f : expf(x - m);
}

/* The state of the scores of a and b together. */
struct softmax_state softmax_merge(struct softmax_state a, struct softmax_state b);

/*
 * The weight that the scores of `part` have among all those of `whole`, between 0 and 1. An empty
 * part has the weight 0, even if the whole is empty. Multiply a softmax over the part, or an average
 * weighted by it, by this share to add it to the others of the whole.
 */
float softmax_share(struct softmax_state part, struct softmax_state whole);

#endif
