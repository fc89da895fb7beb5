/*
 * Kernel fusion: k steps over an array, one after the other, load and store it k times; one step
 * that does all of them loads and stores it once.           unfused 3n + 3n, fused n + n accesses
 *
 * The arithmetic is the same. Attention is harder to fuse, because softmax has to have seen a whole
 * row before it can write anything. Chapter 03's recurrence is what makes it possible.
 */
#include "04_flash_no_tiling/fusion.h"

#include <math.h>

void unfused(const float *x, float *y, size_t n, float scale, float bias)
{
    for (size_t j = 0; j < n; j++)
        y[j] = x[j] * scale;
    for (size_t j = 0; j < n; j++)
        y[j] = y[j] + bias;
    for (size_t j = 0; j < n; j++)
        y[j] = fmaxf(y[j], 0.0f);
}

void fused(const float *x, float *y, size_t n, float scale, float bias)
{
    for (size_t j = 0; j < n; j++)
        y[j] = fmaxf(x[j] * scale + bias, 0.0f);
}
