#ifndef SOFTMAX_STATE_H
#define SOFTMAX_STATE_H

#include <math.h>
#include <stddef.h>

/* m = max of the scores, l = sum of e^{x - m}. */
struct softmax_state {
    float m, l;
};

/* The identity of softmax_merge. */
static const struct softmax_state SOFTMAX_EMPTY = { -INFINITY, 0.0f };

/* e^{x - m} for x <= m. It is 0 for x = -inf, even if m = -inf, where x - m would be NaN. */
static inline float exp_minus(float x, float m)
{
    return x == -INFINITY ? 0.0f : expf(x - m);
}

/* The state of the scores of both. */
struct softmax_state softmax_merge(struct softmax_state a, struct softmax_state b);

/*
 * The weight of `part` in `whole`, 0 to 1; 0 for an empty part, even in an empty whole. Scale a
 * softmax over the part, or an average weighted by it, by this to add it to the other parts.
 */
float softmax_share(struct softmax_state part, struct softmax_state whole);

#endif
