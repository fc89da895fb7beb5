/*
 * 2^x by a polynomial.
 *
 *     2^x = 2^n 2^r,    n = x rounded to an integer,    |r| <= 1/2
 *
 * 2^r is a polynomial of degree 5, with a relative error below 2.5e-7. Exactly 0 for x < -126.5, as
 * masked scores need. x must not exceed 127. NaN stays NaN.
 */
#ifndef FLASH_TILED_EXP2_H
#define FLASH_TILED_EXP2_H

#include "05_flash_tiled_cpu/fast/vec.h"

static const float EXP2_MIN = -127.0f;
/* x + EXP2_SHIFT has no fraction bits, and ends in the bits of n + 127: the exponent of 2^n. */
static const float EXP2_SHIFT = 0x1.8p23f + 127.0f;

static const float EXP2_1 = 6.931469671e-1f, EXP2_2 = 2.402211972e-1f, EXP2_3 = 5.550713274e-2f,
                   EXP2_4 = 9.675541334e-3f, EXP2_5 = 1.327647198e-3f;

static inline float exp2_of(float x)
{
    x = x < EXP2_MIN ? EXP2_MIN : x;
    const float shifted = x + EXP2_SHIFT, r = x - (shifted - EXP2_SHIFT);
    float p = EXP2_5;
    p = p * r + EXP2_4;
    p = p * r + EXP2_3;
    p = p * r + EXP2_2;
    p = p * r + EXP2_1;
    p = p * r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

INLINE vec vec_exp2(vec x)
{
    x = vec_max(vec_of(EXP2_MIN), x);
    const vec shifted = x + EXP2_SHIFT, r = x - (shifted - EXP2_SHIFT);
    vec p = vec_of(EXP2_5);
    p = p * r + EXP2_4;
    p = p * r + EXP2_3;
    p = p * r + EXP2_2;
    p = p * r + EXP2_1;
    p = p * r + 1.0f;
    return p * (vec)((uvec)shifted << 23);
}

#endif
