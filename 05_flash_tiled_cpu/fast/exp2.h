/*
 * 2^x by a polynomial, for one number or a vector.
 *
 *     2^x = 2^n 2^r,    n = x rounded to an integer,    |r| <= 1/2
 *
 * 2^r is a polynomial of degree 5, with a relative error below 2.5e-7. Exactly 0 for x <= -127, as
 * masked scores need; just above -127, off by up to 2^-127. x must not exceed 127. The NaN
 * 0x7FC00000, which NumPy, PyTorch and x86 make, stays NaN.
 */
#ifndef FLASH_TILED_EXP2_H
#define FLASH_TILED_EXP2_H

#include "05_flash_tiled_cpu/fast/vec.h"

static const float EXP2_MIN = -127.0f;
/* x + EXP2_SHIFT has no fraction bits. */
static const float EXP2_SHIFT = 0x1.8p23f;

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
    uint32_t bits, n;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&n, &shifted, sizeof n);
    bits += n << 23;
    memcpy(&p, &bits, sizeof p);
    return p;
}

INLINE vec vec_round(vec x)
{
    return x + EXP2_SHIFT - EXP2_SHIFT;
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
    return (vec)((uvec)p + ((uvec)shifted << 23));
}

#endif
