/*
 * Online softmax: one pass for both statistics, one to normalise.         2n loads + n stores
 *
 *     m_j = max(m_{j-1}, x_j)                                             m_0 = -inf
 *     l_j = l_{j-1} e^{m_{j-1} - m_j} + e^{x_j - m_j}                     l_0 = 0
 *
 * When the maximum grows, all terms of l are rescaled by one common factor, e^{m_old - m_new}.
 *
 * Milakov and Gimelshein, 2018 (chapter 01), Algorithm 3; their d is our l.
 */
#include "03_online_softmax/online_softmax.h"

#include <math.h>

struct softmax_state online_statistics(const float *x, size_t n)
{
    // BEGIN SOLUTION
    float m = -INFINITY, l = 0.0f;
    for (size_t j = 0; j < n; j++) {
        const float x_j = x[j];
        const float m_new = fmaxf(m, x_j);
        l = l * exp_minus(m, m_new) + exp_minus(x_j, m_new);
        m = m_new;
    }
    return (struct softmax_state){ m, l };
    // END SOLUTION
    // STUB: return (void)x, (void)n, SOFTMAX_EMPTY;
}

void online_softmax(const float *x, float *y, size_t n)
{
    // BEGIN SOLUTION
    const struct softmax_state row = online_statistics(x, n);  // pass 1: both statistics
    for (size_t j = 0; j < n; j++)                             // pass 2: normalise
        y[j] = exp_minus(x[j], row.m) / row.l;
    // END SOLUTION
    // STUB: (void)x, (void)y, (void)n;
}
