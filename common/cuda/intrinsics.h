/*
 * CUDA's functions for arithmetic, those that C's <math.h> has not. Where a GPU's result is only
 * near the true one (__expf, rsqrtf), these give the true one, rounded: a kernel must not need more.
 */
#ifndef COMMON_CUDA_INTRINSICS_H
#define COMMON_CUDA_INTRINSICS_H

#include "site.h"
#include "timeline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()

using std::max;
using std::min;

#define CUDA_FUNCTION(name, expression) \
    static inline float name(float x)   \
    {                                   \
        return expression;              \
    }
CUDA_FUNCTION(cuda_exp10f, powf(10.0f, x))
CUDA_FUNCTION(cuda_rsqrtf, float(1.0 / sqrt(double(x))))
CUDA_FUNCTION(__frsqrt_rn, float(1.0 / sqrt(double(x))))
CUDA_FUNCTION(__fsqrt_rn, sqrtf(x))
CUDA_FUNCTION(__frcp_rn, 1.0f / x)
CUDA_FUNCTION(__saturatef, x > 0.0f ? fminf(x, 1.0f) : 0.0f)
#undef CUDA_FUNCTION

/* A watched kernel's exponentials are written down. */
#ifdef CUDA_WATCHED
static inline float cuda_expf(float x)
{
    cpu::timeline_exponential();
    return expf(x);
}
#define expf cuda_expf
#endif

/* The C library has functions of some of these names, of its own and of no use here. */
#define exp10f cuda_exp10f
#define rsqrtf cuda_rsqrtf
#define __exp10f cuda_exp10f
#define __expf expf
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __powf powf

/* As on a GPU, a divisor beyond 2^126 gives 0. */
static inline float __fdividef(float x, float y)
{
    return fabsf(y) > 0x1p126f && fabsf(y) < INFINITY && !std::isnan(x) && !std::isinf(x) ? 0.0f
                                                                                          : x / y;
}

static inline float __fdiv_rn(float x, float y)
{
    return x / y;
}

static inline float __fadd_rn(float x, float y)
{
    return x + y;
}

static inline float __fsub_rn(float x, float y)
{
    return x - y;
}

static inline float __fmul_rn(float x, float y)
{
    return x * y;
}

static inline float __fmaf_rn(float x, float y, float z)
{
    return fmaf(x, y, z);
}

// ---- bits ---------------------------------------------------------------------------------------

#define CUDA_BITS(name, from, to)       \
    static inline to name(from x)       \
    {                                   \
        to bits;                        \
        memcpy(&bits, &x, sizeof bits); \
        return bits;                    \
    }
CUDA_BITS(__float_as_uint, float, unsigned)
CUDA_BITS(__float_as_int, float, int)
CUDA_BITS(__uint_as_float, unsigned, float)
CUDA_BITS(__int_as_float, int, float)
CUDA_BITS(__double_as_longlong, double, long long)
CUDA_BITS(__longlong_as_double, long long, double)
#undef CUDA_BITS

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline int __clz(int x)
{
    return x ? __builtin_clz(unsigned(x)) : 32;
}

static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

static inline unsigned __brev(unsigned x)
{
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; bit++)
        reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}

static inline unsigned __umulhi(unsigned x, unsigned y)
{
    return unsigned(uint64_t{ x } * y >> 32);
}

static inline int __mulhi(int x, int y)
{
    return int(int64_t{ x } * y >> 32);
}

/* To the nearest whole number (ties to even), to zero, down, up; out of range: the last there is. */
static inline int cuda_to_int(float x)
{
    return std::isnan(x) ? 0 : x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : int(x);
}

static inline int __float2int_rn(float x)
{
    return cuda_to_int(nearbyintf(x));
}

static inline int __float2int_rz(float x)
{
    return cuda_to_int(x);
}

static inline int __float2int_rd(float x)
{
    return cuda_to_int(floorf(x));
}

static inline int __float2int_ru(float x)
{
    return cuda_to_int(ceilf(x));
}

static inline float __int2float_rn(int x)
{
    return float(x);
}

static inline float __uint2float_rn(unsigned x)
{
    return float(x);
}

// ---- loads and stores with advice to the caches, which changes no result ------------------------

inline namespace CUDA_BUILD
{
#define CUDA_LOAD(name)                                \
    template <class T> CUDA_IN_LINE T name(const T *p) \
    {                                                  \
        return *p;                                     \
    }
CUDA_LOAD(__ldg)
CUDA_LOAD(__ldca)
CUDA_LOAD(__ldcg)
CUDA_LOAD(__ldcs)
#undef CUDA_LOAD

#define CUDA_STORE(name)                                     \
    template <class T> CUDA_IN_LINE void name(T *p, T value) \
    {                                                        \
        *p = value;                                          \
    }
CUDA_STORE(__stwb)
CUDA_STORE(__stcg)
CUDA_STORE(__stcs)
#undef CUDA_STORE
}  // namespace CUDA_BUILD

#endif
