#ifndef SOFTMAX_STATE_H
#define SOFTMAX_STATE_H

#include <math.h>
#include <stddef.h>

/* m = max of the scores, l = sum of e^{x - m}; (-inf, 0) without scores, or if all are -inf. */
struct softmax_state {
    float m, l;
};

/* The identity of softmax_merge. */
static const struct softmax_state SOFTMAX_EMPTY = { -INFINITY, 0.0f };

/* e^{x - m} for x <= m. It is 0 for x = -inf, even if m = -inf, where x - m is NaN. */
static inline float exp_minus(float x, float m)
{
    return x == -INFINITY ? 0.0f : expf(x - m);
}

/* The state of both sets of scores together. */
struct softmax_state softmax_merge(struct softmax_state a, struct softmax_state b);

/*
 * The share, 0 to 1, of `whole`'s weight that belongs to `part`; 0 if `part` is empty, even if
 * `whole` is too. To merge parts, add each one's softmax, or softmax-weighted average, times its
 * share.
 */
float softmax_share(struct softmax_state part, struct softmax_state whole);

#endif
