/* Vectors of LANES numbers in GNU C: 16 for AVX-512, 8 for AVX2, otherwise 4. */
#ifndef FLASH_TILED_VEC_H
#define FLASH_TILED_VEC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

/*
 * Q is multiplied only by the sign of the scale c (0 if c is 0); scaling score differences by |c|
 * rounds less. With x = sign q.k
 *
 *     e^{c q.k} / e^{|c| m} = 2^{(x - m) factor},    size = |c| (1 if c is 0),    factor = size log2(e)
 */
struct scale {
    float sign, size, factor;
    float slack;  // how far x may exceed m (overlap.c): weights <= e^11
};

static inline struct scale scale_of(float scale)
{
    const float size = scale == 0.0f ? 1.0f : fabsf(scale);
    return (struct scale){ scale / size, size, size * 0x1.715476p0f, 11.0f / size };
}

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * LANES)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec vec_of(float x)
{
    return x - (vec){ 0 };
}

INLINE vec vec_load(const float *x)
{
    vec v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void vec_store(float *x, vec v)
{
    memcpy(x, &v, sizeof v);
}

/* Loads min(n, LANES) elements, then zeros. */
INLINE vec vec_load_some(const float *x, size_t n)
{
    vec v = { 0.0f };
    if (n >= LANES)
        return vec_load(x);
    memcpy(&v, x, n * sizeof *x);
    return v;
}

INLINE void vec_store_some(float *x, vec v, size_t n)
{
    if (n >= LANES)
        vec_store(x, v);
    else
        memcpy(x, &v, n * sizeof *x);
}

/* a where `where` is all ones, b where it is 0. */
INLINE vec vec_pick(ivec where, vec a, vec b)
{
    return (vec)((where & (ivec)a) | (~where & (ivec)b));
}

/* b if either is NaN. For 16 lanes, gcc needs three instructions without the intrinsic. */
INLINE vec vec_max(vec a, vec b)
{
#if defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#else
    return vec_pick(a > b, a, b);
#endif
}

/* Is any lane nonzero? */
INLINE int vec_any(ivec where)
{
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)where, (__m512i)where) != 0;
#else
    int32_t all = 0;
    for (int lane = 0; lane < LANES; lane++)
        all |= where[lane];
    return all != 0;
#endif
}

#endif
