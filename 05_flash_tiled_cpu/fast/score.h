#ifndef FLASH_TILED_SCORE_H
#define FLASH_TILED_SCORE_H

#include "05_flash_tiled_cpu/fast/exp2.h"
#include "common/problem/attention.h"

/*
 * Off by a few units in the last place: Cephes's polynomial for |x| < 5/8, else 1 - 2 / (e^{2 |x|}
 * + 1). NaN stays NaN.
 */
INLINE vec vec_tanh(vec x)
{
    const vec size = vec_pick(x < 0.0f, -x, x), z = x * x;
    vec p = vec_of(-5.70498872745e-3f);
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const vec small = p * z * x + x;
    const vec e = vec_exp2(vec_pick(size > 10.0f, vec_of(10.0f), size) * 0x1.715476p1f);
    const vec large = 1.0f - 2.0f / (e + 1.0f);
    return vec_pick(size < 0.625f, small, vec_pick(x < 0.0f, -large, large));
}

/* score_of and score_slope of LANES pairs. */
struct vec_score {
    vec x, slope;
};

INLINE struct vec_score vec_score_by_lanes(const struct attention *p, size_t b, size_t h, ivec i,
                                           ivec j, vec dot)
{
    vec x = dot, slope = dot;  // gcc 12 warns that a struct's lanes are uninitialised
    for (int n = 0; n < LANES; n++) {
        x[n] = (float)score_of(p, b, h, (size_t)i[n], (size_t)j[n], (double)dot[n]);
        slope[n] = (float)score_slope(p, b, h, (size_t)i[n], (size_t)j[n], (double)dot[n]);
    }
    return (struct vec_score){ x, slope };
}

INLINE struct vec_score vec_score(const struct attention *p, size_t b, size_t h, ivec i, ivec j,
                                  vec dot)
{
    // Your variant's formula and derivative, if it must be fast.
    if (p->softcap <= 0.0f)
        return vec_score_by_lanes(p, b, h, i, j, dot);
    const vec t = vec_tanh(dot * p->scale / p->softcap);
    return (struct vec_score){ t * p->softcap, (1.0f - t * t) * p->scale };
}

#endif
