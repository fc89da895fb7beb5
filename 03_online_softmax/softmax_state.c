/*
 * The recurrence of online softmax, for blocks of any size instead of single elements:
 *
 *     m = max(m_a, m_b)
 *     l = l_a e^{m_a - m} + l_b e^{m_b - m}
 *
 * It does not matter which block comes first, nor how many are merged before which: merge is
 * commutative and associative, and (-inf, 0) is its identity. That makes it a monoid, and it is why
 * a row may be cut into tiles, threads, warps or machines and still come out the same. A single
 * score x is a block too, with the state (x, 1): merging it is the recurrence.
 */
#include "03_online_softmax/softmax_state.h"

struct softmax_state softmax_merge(struct softmax_state a, struct softmax_state b)
{
    // BEGIN SOLUTION
    const float m = fmaxf(a.m, b.m);
    return (struct softmax_state){ m, a.l * exp_minus(a.m, m) + b.l * exp_minus(b.m, m) };
    // END SOLUTION
    // STUB: return (void)b, a;
}

float softmax_share(struct softmax_state part, struct softmax_state whole)
{
    // BEGIN SOLUTION
    if (part.l == 0.0f)
        return 0.0f;  // all its scores are -inf: there is nothing to add
    return part.l * exp_minus(part.m, whole.m) / whole.l;
    // END SOLUTION
    // STUB: return (void)part, (void)whole, 0.0f;
}
