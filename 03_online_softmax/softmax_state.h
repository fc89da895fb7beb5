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
 * The weight that the scores of `part` have among all those of `whole`, between 0 and 1; nothing
 * has none, also of nothing. A softmax over the part, or an average weighted by it, takes its place
 * in the whole times this share.
 */
float softmax_share(struct softmax_state part, struct softmax_state whole);

#endif
