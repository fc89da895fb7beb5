#ifndef FUSION_H
#define FUSION_H

#include <stddef.h>

/* y = max(scale x + bias, 0), n elements, in three passes over y. */
void unfused(const float *x, float *y, size_t n, float scale, float bias);

/* The same in one pass. */
void fused(const float *x, float *y, size_t n, float scale, float bias);

#endif
