/*
 * LANES numbers at a time, in the vector extensions of GNU C: gcc and clang make of them whatever the
 * processor has that they compile for. AVX-512 has 16 lanes, AVX2 8, SSE2 and NEON 4; on a processor
 * with no vectors at all it is slow, and still right.
 */
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
 * The scale c of attention, in the parts that the steps use. A score q.k is not multiplied by it; the
 * difference of two scores is, for there rounding costs less. Only c's sign belongs to the scores, or their
 * maximum would be the wrong end. So the queries are multiplied by the sign (0 if c is 0), and with
 * x = sign q.k
 *
 *     e^{c q.k} / e^{|c| m} = 2^{(x - m) factor},    size = |c|,    factor = |c| log2(e)
 */
struct scale {
    float sign, size, factor;
    float slack;  // how far m may lag behind the maximum (overlap.c): a weight is at most e^11 then
};

static inline struct scale scale_of(float scale)
{
    const float size = scale == 0.0f ? 1.0f : fabsf(scale);
    return (struct scale){ scale / size, size, size * 0x1.715476p0f, 11.0f / size };
}

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * LANES)));

/* What is called for every vector must not be called at all. */
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

/* LANES elements of x, or the n there are and zeros after them. */
INLINE vec vec_load_some(const float *x, size_t n)
{
    vec v = { 0.0f };
    if (n >= LANES)
        return vec_load(x);
    memcpy(&v, x, n * sizeof *x);
    return v;
}

/* The first n of LANES elements, or all of them, to x. */
INLINE void vec_store_some(float *x, vec v, size_t n)
{
    if (n >= LANES)
        vec_store(x, v);
    else
        memcpy(x, &v, n * sizeof *x);
}

/* a where `where` is all ones, b where it is 0: what a comparison of vectors gives. */
INLINE vec vec_pick(ivec where, vec a, vec b)
{
    return (vec)((where & (ivec)a) | (~where & (ivec)b));
}

/* b where one of them is NaN. gcc makes three instructions of a > b ? a : b for 16 lanes; there is one. */
INLINE vec vec_max(vec a, vec b)
{
#if defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#else
    return vec_pick(a > b, a, b);
#endif
}

/* Is it all ones in any lane? */
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
