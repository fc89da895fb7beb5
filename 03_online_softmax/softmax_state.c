/*
 * The recurrence of online softmax for blocks of any size:
 *
 *     m = max(m_a, m_b)
 *     l = l_a e^{m_a - m} + l_b e^{m_b - m}
 *
 * Merging is commutative and associative, with identity (-inf, 0): a monoid. So a row can be split
 * over tiles, threads, warps or machines. A block of one score x has the state (x, 1), or (-inf, 0)
 * if x = -inf: masked scores add nothing.
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
        return 0.0f;  // all its scores are -inf
    return part.l * exp_minus(part.m, whole.m) / whole.l;
    // END SOLUTION
    // STUB: return (void)part, (void)whole, 0.0f;
}
