#ifndef FLASH_TILED_VEC_PHILOX_H
#define FLASH_TILED_VEC_PHILOX_H

#include "05_flash_tiled_cpu/fast/vec.h"

#if !defined(__AVX512F__)
typedef uint64_t wide_uvec __attribute__((vector_size(8 * LANES)));
#endif

struct vec_counter {
    uvec word[4];
};

/* Halves of 64-bit products. gcc makes 64 x 64-bit multiplications of the portable code. */
INLINE void vec_multiply(uvec a, uint32_t factor, uvec *high, uvec *low)
{
#if defined(__AVX512F__)
    const __m512i x = (__m512i)a, by = _mm512_set1_epi32((int)factor);
    const __m512i even = _mm512_mul_epu32(x, by);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), by);
    *high = (uvec)_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    *low = (uvec)_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
#else
    const wide_uvec product = __builtin_convertvector(a, wide_uvec) * factor;
    *high = __builtin_convertvector(product >> 32, uvec);
    *low = a * factor;
#endif
}

/* philox4x32, for LANES counters. */
INLINE struct vec_counter vec_philox(struct vec_counter counter, uint64_t key)
{
    uint32_t key_low = (uint32_t)key, key_high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uvec a_high, a_low, b_high, b_low;
        vec_multiply(counter.word[0], 0xD2511F53, &a_high, &a_low);
        vec_multiply(counter.word[2], 0xCD9E8D57, &b_high, &b_low);
        counter = (struct vec_counter){ { b_high ^ counter.word[1] ^ key_low, b_low,
                                          a_high ^ counter.word[3] ^ key_high, a_low } };
        key_low += 0x9E3779B9;
        key_high += 0xBB67AE85;
    }
    return counter;
}

#endif
