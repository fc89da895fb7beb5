/*
 * Chapter 04, the idea behind the name. Three element-wise steps as three kernels, and as one.
 */
#ifndef FUSION_H
#define FUSION_H

#include <stddef.h>

/* y = max(scale x + bias, 0), n elements. `y` is written and read again between the steps. */
void unfused(const float *x, float *y, size_t n, float scale, float bias);

/* The same in one pass. */
void fused(const float *x, float *y, size_t n, float scale, float bias);

#endif
