/*
 * 16-bit floating point: __half (5 exponent bits, 10 of fraction), __nv_bfloat16 (8 and 7), and
 * pairs of them. Arithmetic is done in float.
 */
#ifndef COMMON_CUDA_HALF_H
#define COMMON_CUDA_HALF_H

#include "common/cuda/emulator/intrinsics.h"
#include "common/cuda/language.h"

#include <cmath>
#include <cstdint>

inline namespace CUDA_BUILD
{

struct __nv_bfloat16 {
    uint16_t bits;

    __nv_bfloat16() = default;

    /* Rounds to nearest, ties to even. */
    __nv_bfloat16(float x)
    {
        const uint32_t u = __float_as_uint(x);
        bits = std::isnan(x) ? 0x7fff : uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
    }

    operator float() const
    {
        return __uint_as_float(uint32_t{ bits } << 16);
    }
};

struct __half {
    uint16_t bits;

    __half() = default;

    __half(float x)
    {
        const uint32_t u = __float_as_uint(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
        uint32_t h;
        if (a > 0x7f800000)
            h = 0x7fff;
        else if (a >= 0x477ff000)
            h = sign | 0x7c00;    // 65520 and more round to infinity
        else if (a < 0x38800000)  // below 2^-14: adding 1/2 lets the float's own rounding do it
            h = sign | (__float_as_uint(__uint_as_float(a) + 0.5f) - 0x3f000000);
        else
            h = sign | ((a + 0xfff + (a >> 13 & 1) - 0x38000000) >> 13);
        bits = uint16_t(h);
    }

    operator float() const
    {
        const uint32_t sign = uint32_t{ bits } << 16 & 0x80000000, a = bits & 0x7fff;
        if (a >= 0x7c00)
            return __uint_as_float(sign | 0x7f800000 | (a & 0x3ff) << 13);
        const float x = a < 0x400 ? float(a) * 0x1p-24f : __uint_as_float((a << 13) + 0x38000000);
        return sign ? -x : x;
    }
};

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    CUDA_MADE_OF_TWO(__nv_bfloat162, __nv_bfloat16)
};

struct alignas(4) __half2 {
    __half x, y;
    CUDA_MADE_OF_TWO(__half2, __half)
};

// ---- conversions --------------------------------------------------------------------------------

static inline __half __float2half(float x)
{
    return x;
}

static inline float __half2float(__half x)
{
    return x;
}

static inline __nv_bfloat16 __float2bfloat16(float x)
{
    return x;
}

static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    return x;
}

static inline float __bfloat162float(__nv_bfloat16 x)
{
    return x;
}

static inline uint16_t __half_as_ushort(__half x)
{
    return x.bits;
}

static inline uint16_t __bfloat16_as_ushort(__nv_bfloat16 x)
{
    return x.bits;
}

static inline __half __ushort_as_half(uint16_t bits)
{
    __half x;
    x.bits = bits;
    return x;
}

static inline __nv_bfloat16 __ushort_as_bfloat16(uint16_t bits)
{
    __nv_bfloat16 x;
    x.bits = bits;
    return x;
}

static inline __half2 __floats2half2_rn(float x, float y)
{
    return { x, y };
}

static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return { x, y };
}

}  // namespace CUDA_BUILD

#endif
