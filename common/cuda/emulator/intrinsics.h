/*
 * CUDA's arithmetic functions that C's <math.h> lacks. Where a GPU approximates (__expf, rsqrtf),
 * these are exact but for rounding: a kernel must not need more.
 */
#ifndef COMMON_CUDA_INTRINSICS_H
#define COMMON_CUDA_INTRINSICS_H

#include "common/cuda/emulator/diagnostics/timeline.h"

#include <cmath>
#include <cstring>

/* One per type, as in CUDA, so that an enumerator and an int may mix. */
#define CUDA_MIN_AND_MAX(type)             \
    static inline type min(type a, type b) \
    {                                      \
        return b < a ? b : a;              \
    }                                      \
    static inline type max(type a, type b) \
    {                                      \
        return a < b ? b : a;              \
    }
CUDA_MIN_AND_MAX(int)
CUDA_MIN_AND_MAX(unsigned)
CUDA_MIN_AND_MAX(long)
CUDA_MIN_AND_MAX(unsigned long)
CUDA_MIN_AND_MAX(float)
CUDA_MIN_AND_MAX(double)
#undef CUDA_MIN_AND_MAX

static inline float cuda_rsqrtf(float x)
{
    return float(1.0 / sqrt(double(x)));
}

/* Logged in the timeline. */
#ifdef CUDA_INSTRUMENTED
static inline float cuda_expf(float x)
{
    cpu::timeline_exponential();
    return expf(x);
}
#define expf cuda_expf
#endif

/* The C library has functions of some of these names. */
#define rsqrtf cuda_rsqrtf
#define __expf expf
#define __logf logf
#define __log2f log2f

// ---- bits ---------------------------------------------------------------------------------------

static inline unsigned __float_as_uint(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float __uint_as_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
