/* LANES independent sums: compilers may not reorder a sum to vectorise it. */
#include "01_standard_softmax/standard_softmax.h"
#include "common/cpu/fast_exp.h"

void standard_softmax_lanes(const float *restrict x, float *restrict y, size_t n)
{
    // BEGIN LATER passes
    const size_t whole = n - n % LANES;
    float sum[LANES] = { 0.0f }, l = 0.0f;
    for (size_t j = 0; j < whole; j += LANES)
        for (size_t k = 0; k < LANES; k++)
            sum[k] += fast_exp(x[j + k]);
    for (size_t j = whole; j < n; j++)
        l += fast_exp(x[j]);
    for (size_t k = 0; k < LANES; k++)
        l += sum[k];

    for (size_t j = 0; j < n; j++)
        y[j] = fast_exp(x[j]) / l;
    // END LATER
    // STUB: standard_softmax(x, y, n);
}
