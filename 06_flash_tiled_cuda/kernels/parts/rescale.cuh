/*
 * A lagging maximum: O / l and k m + log2(l) are the same for any m in
 *
 *     O = sum of 2^{k s_j - k m} v_j,    l = sum of 2^{k s_j - k m}
 *
 * so m is raised to the row's maximum only when a weight would exceed 2^8. A 16-bit float holds
 * 256 as precisely as 1.
 */
#ifndef FLASH_TILED_CUDA_RESCALE_CUH
#define FLASH_TILED_CUDA_RESCALE_CUH

#include "06_flash_tiled_cuda/kernels/parts/powers.cuh"

static const float RESCALE_THRESHOLD = 8.0f;  // log2 of the largest weight

/* power_softmax with a lagging m. */
template <class TRAITS> __device__ static inline void lazy_softmax(fragments<TRAITS> *acc, float k)
{
    float m_new[TRAITS::M_TILES][2];
    bool exceeds = false;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            m_new[x][h] = new_maximum(acc, x, h);
            exceeds = exceeds || k * m_new[x][h] > k * acc->m[x][h] + RESCALE_THRESHOLD;
        }
    if (__any_sync(WHOLE_WARP, exceeds))  // one decision per warp
#pragma unroll
        for (int x = 0; x < TRAITS::M_TILES; x++)
            for (int h = 0; h < 2; h++)
                raise_maximum(acc, x, h, k, m_new[x][h]);
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++)
            acc->l[x][h] += row_weights(acc, x, h, k, acc->m[x][h]);
}

#endif
