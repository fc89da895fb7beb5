/*
 * Safe softmax: the maximum, then the sum, then normalise.                3n loads + n stores
 *
 *     m   = max over j of x_j
 *     l   = sum over j of e^{x_j - m}
 *     y_j = e^{x_j - m} / l
 *
 * In exact arithmetic m cancels. In float32 no exponent is above 0, and l lies between 1 and n.
 *
 * Milakov and Gimelshein, 2018 (chapter 01), Algorithm 2.
 */
#include "02_safe_softmax/safe_softmax.h"

#include <math.h>

void safe_softmax(const float *x, float *y, size_t n)
{
    // BEGIN SOLUTION
    float m = -INFINITY, l = 0.0f;
    for (size_t j = 0; j < n; j++)  // pass 1: the maximum
        m = fmaxf(m, x[j]);
    for (size_t j = 0; j < n; j++)  // pass 2: the sum
        l += expf(x[j] - m);
    for (size_t j = 0; j < n; j++)  // pass 3: normalise
        y[j] = expf(x[j] - m) / l;
    // END SOLUTION
    // STUB: (void)x, (void)y, (void)n;
}
