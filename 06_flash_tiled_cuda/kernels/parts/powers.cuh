/*
 * A weight is one multiply-add and one power of 2:
 *
 *     e^{scale s - scale m} = 2^{k s - k m},    k = scale log2(e)
 *
 * S is unscaled. For a negative scale we flip the signs of Q, so that m is still the maximum; for
 * 0, we set Q to 0.
 */
#ifndef FLASH_TILED_CUDA_POWERS_CUH
#define FLASH_TILED_CUDA_POWERS_CUH

#include "06_flash_tiled_cuda/kernels/parts/pipeline.cuh"

/* |scale|, or 1 for 0; k = scale log2(e). Pairs of Q are ANDed with `keep`, XORed with `flip`. */
struct folded_scale {
    float scale, k;
    unsigned keep, flip;
};

__device__ static inline struct folded_scale fold(float scale)
{
    const float log2e = 1.44269504f, size = scale == 0.0f ? 1.0f : fabsf(scale);
    return { size, size * log2e, scale == 0.0f ? 0u : 0xffffffffu,
             scale < 0.0f ? 0x80008000u : 0u };
}

/*
 * Call between the wait for Q and a barrier. After cp.async, a thread changes only chunks that it
 * copied; after TMA, each thread must have waited.
 */
template <class TRAITS, class LAYOUT>
__device__ static inline void flip_query_signs(uint4 *Q, const struct folded_scale &f)
{
    for (int n = (int)threadIdx.x; n < TRAITS::BR * TRAITS::ROW; n += TRAITS::THREADS) {
        uint4 *const chunk = &Q[LAYOUT::at(n / TRAITS::ROW, n % TRAITS::ROW)];
        const uint4 q = *chunk;
        *chunk = make_uint4((q.x & f.keep) ^ f.flip, (q.y & f.keep) ^ f.flip,
                            (q.z & f.keep) ^ f.flip, (q.w & f.keep) ^ f.flip);
    }
}

template <class TRAITS>
__device__ static inline void mask_keys(fragments<TRAITS> *acc, const struct attention &p, int i0,
                                        int j0)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int attended =
                keys_attended(p, i0 + tensor_row<TRAITS>(x, h)) - j0 - tensor_column();
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 0; e < 2; e++)
                    if (8 * c + e >= attended)
                        acc->S[x][c][2 * h + e] = -INFINITY;
        }
}

template <class TRAITS>
__device__ static inline float new_maximum(const fragments<TRAITS> *acc, int x, int h)
{
    float m = acc->m[x][h];
    for (int c = 0; c < TRAITS::BC / 8; c++)
        m = fmaxf(m, fmaxf(acc->S[x][c][2 * h], acc->S[x][c][2 * h + 1]));
    return quad_max(m);
}

/* k m, or 0 for m = -inf, as -inf minus -inf is NaN. */
__device__ static inline float shift_of(float k, float m)
{
    return m == -INFINITY ? 0.0f : k * m;
}

template <class TRAITS>
__device__ static inline float row_weights(fragments<TRAITS> *acc, int x, int h, float k, float m)
{
    const float shift = shift_of(k, m);
    float sum = 0.0f;
    for (int c = 0; c < TRAITS::BC / 8; c++)
        for (int e = 2 * h; e < 2 * h + 2; e++) {
            acc->S[x][c][e] = ex2(fmaf(acc->S[x][c][e], k, -shift));
            sum += acc->S[x][c][e];
        }
    return sum;
}

/* Exactly 1 if a finite m has not changed; a fused k m - (k m_new) would round only one product. */
__device__ static inline float rescale_of(float k, float m, float m_new)
{
    return ex2(k * (m - (m_new == -INFINITY ? 0.0f : m_new)));
}

template <class TRAITS>
__device__ static inline void raise_maximum(fragments<TRAITS> *acc, int x, int h, float k,
                                            float m_new)
{
    const float rescale = rescale_of(k, acc->m[x][h], m_new);
    acc->l[x][h] *= rescale;
    for (int c = 0; c < TRAITS::D / 8; c++) {
        acc->O[x][c][2 * h] *= rescale;
        acc->O[x][c][2 * h + 1] *= rescale;
    }
    acc->m[x][h] = m_new;
}

template <class TRAITS> __device__ static inline void power_softmax(fragments<TRAITS> *acc, float k)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            raise_maximum(acc, x, h, k, new_maximum(acc, x, h));
            acc->l[x][h] += row_weights(acc, x, h, k, acc->m[x][h]);
        }
}

/* Scales m, for lse. */
template <class TRAITS>
__device__ static inline void scale_maximum(fragments<TRAITS> *acc, float scale)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++)
            acc->m[x][h] *= scale;
}

#endif
