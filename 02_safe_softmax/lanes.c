/* LANES independent maxima and sums, which a compiler can vectorise. */
#include "02_safe_softmax/safe_softmax.h"
#include "common/cpu/fast_exp.h"

void safe_softmax_lanes(const float *restrict x, float *restrict y, size_t n)
{
    // BEGIN LATER passes
    const size_t whole = n - n % LANES;
    float largest[LANES], sum[LANES] = { 0.0f }, m = -INFINITY, l = 0.0f;
    for (size_t k = 0; k < LANES; k++)
        largest[k] = -INFINITY;
    for (size_t j = 0; j < whole; j += LANES)
        for (size_t k = 0; k < LANES; k++)
            largest[k] = larger(x[j + k], largest[k]);
    for (size_t j = whole; j < n; j++)
        m = larger(x[j], m);
    for (size_t k = 0; k < LANES; k++)
        m = larger(largest[k], m);

    for (size_t j = 0; j < whole; j += LANES)
        for (size_t k = 0; k < LANES; k++)
            sum[k] += fast_exp(x[j + k] - m);
    for (size_t j = whole; j < n; j++)
        l += fast_exp(x[j] - m);
    for (size_t k = 0; k < LANES; k++)
        l += sum[k];

    for (size_t j = 0; j < n; j++)
        y[j] = fast_exp(x[j] - m) / l;
    // END LATER
    // STUB: safe_softmax(x, y, n);
}
