/*
 * Transposes LANES x LANES numbers in registers.
 *
 * In each round, s = LANES/2, … 2, 1, two shuffles of rows i and i + s swap the off-diagonal s x s
 * blocks of every 2s x 2s block.
 *
 *     a0 a1 a2 a3          a0 a1 c0 c1          a0 b0 c0 d0
 *     b0 b1 b2 b3   s = 2  b0 b1 d0 d1   s = 1  a1 b1 c1 d1
 *     c0 c1 c2 c3          a2 a3 c2 c3          a2 b2 c2 d2
 *     d0 d1 d2 d3          b2 b3 d2 d3          a3 b3 c3 d3
 */
#ifndef FLASH_TILED_TRANSPOSE_H
#define FLASH_TILED_TRANSPOSE_H

#include "05_flash_tiled_cpu/fast/vec.h"

/* The lane of a, or LANES + the lane of b, that lane l gets in rows without and with bit s. */
#define WITHOUT(s, l) ((l) & (s) ? LANES + (l) - (s) : (l))
#define WITH(s, l) ((l) & (s) ? LANES + (l) : (l) + (s))

#if defined(__AVX512F__)
#define EVERY_LANE(f, s)                                                                      \
    f(s, 0), f(s, 1), f(s, 2), f(s, 3), f(s, 4), f(s, 5), f(s, 6), f(s, 7), f(s, 8), f(s, 9), \
        f(s, 10), f(s, 11), f(s, 12), f(s, 13), f(s, 14), f(s, 15)
#elif defined(__AVX2__)
#define EVERY_LANE(f, s) f(s, 0), f(s, 1), f(s, 2), f(s, 3), f(s, 4), f(s, 5), f(s, 6), f(s, 7)
#else
#define EVERY_LANE(f, s) f(s, 0), f(s, 1), f(s, 2), f(s, 3)
#endif

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){ __VA_ARGS__ })
#endif

#define ROUND(row, s)                                            \
    for (int i = 0; i < LANES; i++)                              \
        if (!(i & (s))) {                                        \
            const vec a = (row)[i], b = (row)[i + (s)];          \
            (row)[i] = SHUFFLE(a, b, EVERY_LANE(WITHOUT, s));    \
            (row)[i + (s)] = SHUFFLE(a, b, EVERY_LANE(WITH, s)); \
        }

INLINE void transpose(vec row[LANES])
{
#if defined(__AVX512F__)
    ROUND(row, 8)
#endif
#if defined(__AVX2__)
    ROUND(row, 4)
#endif
    ROUND(row, 2)
    ROUND(row, 1)
}

#undef ROUND
#undef SHUFFLE

#endif
