/*
 * 2^x without the special-function unit, as multiply-adds:
 *
 *     2^x = 2^j 2^f,    j the integer nearest to x,    f = x - j,    -1/2 <= f <= 1/2
 *
 * 2^f is a polynomial in f, and 2^j is made of j's bits. 1.5 2^23 + 127 added to x leaves no room for a fraction: the sum's
 * last bits are those of j + 127, which is how a float writes 2^j. x - j is exact. That a power is taken apart so is
 * Cody and Waite's idea ("Software Manual for the Elementary Functions", 1980).
 *
 * The polynomial is 1 where f is 0, so 2^x is exact at integers. Below -127 the power is 0, as for -inf; a NaN stays one.
 * x is at most 127: weights are at most 2^8 here.
 */
#ifndef FLASH_TILED_CUDA_POLYNOMIAL_H
#define FLASH_TILED_CUDA_POLYNOMIAL_H

#include "attention.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* One weight of so many is a polynomial's; the others are the special-function unit's. */
enum { SHARE = 4 };

/* Of a row a thread has two columns of every 8. Is the weight of those in the eight columns number c a polynomial's? */
HOST_DEVICE static inline bool is_polynomials(int c)
{
    return c % SHARE == SHARE - 1;
}

/* The coefficients make the largest relative error as small as a polynomial of fourth degree with the value 1 at 0 can. */
HOST_DEVICE static inline float polynomial_ex2(float x)
{
    const float low = x < -127.0f ? -127.0f : x, magic = 12583039.0f;
    const float shifted = low + magic, f = low - (shifted - magic);
    float y = 0x1.409104p-7f, power;
    y = fmaf(y, f, 0x1.ca9008p-5f);
    y = fmaf(y, f, 0x1.ebf1b4p-3f);
    y = fmaf(y, f, 0x1.62dfcap-1f);
    y = fmaf(y, f, 1.0f);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(&power, &bits, sizeof power);
    return y * power;
}

#endif
