#ifndef FLASH_TILED_CUDA_OVERLAP_CUH
#define FLASH_TILED_CUDA_OVERLAP_CUH

#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"

/* lazy_softmax during a product into O: if true, multiply O by `rescale` afterwards. */
template <class TRAITS>
__device__ static inline bool lazy_weights(fragments<TRAITS> *acc, float k,
                                           float (&rescale)[TRAITS::M_TILES][2])
{
    float m_new[TRAITS::M_TILES][2];
    bool exceeds = false;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            m_new[x][h] = new_maximum(acc, x, h);
            exceeds = exceeds || k * m_new[x][h] > k * acc->m[x][h] + RESCALE_THRESHOLD;
        }
    const bool needs_rescale = __any_sync(WHOLE_WARP, exceeds);
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            if (needs_rescale) {
                rescale[x][h] = rescale_of(k, acc->m[x][h], m_new[x][h]);
                acc->l[x][h] *= rescale[x][h];
                acc->m[x][h] = m_new[x][h];
            }
            acc->l[x][h] += row_weights(acc, x, h, k, acc->m[x][h]);
        }
    return needs_rescale;
}

template <class TRAITS>
__device__ static inline void rescale_output(fragments<TRAITS> *acc,
                                             const float (&rescale)[TRAITS::M_TILES][2])
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int c = 0; c < TRAITS::D / 8; c++)
            for (int e = 0; e < 4; e++)
                acc->O[x][c][e] *= rescale[x][e / 2];
}

#endif
