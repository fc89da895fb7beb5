/*
 * A maximum that lags. Softmax is the same for any m:
 *
 *     O = sum of 2^{k s_j - k m} v_j,    l = sum of 2^{k s_j - k m};    O / l and k m + log2(l) do not change with m.
 *
 * m only keeps powers in range. Until a row's maximum is 8 powers of 2 above its m, a warp leaves
 * m, l and O alone. Weights of up to 256 are as precise in 16 bits as those below 1, and a float32
 * sum holds a million of them.
 */
#ifndef FLASH_TILED_CUDA_RESCALE_CUH
#define FLASH_TILED_CUDA_RESCALE_CUH

#include "06_flash_tiled_cuda/kernels/parts/powers.cuh"

static const float FAR = 8.0f;  // powers of 2

/* Lines 9 and 10 of the paper; m follows the maximum only after a large move. */
template <class TRAITS> __device__ static inline void lazy_softmax(fragments<TRAITS> *acc, float k)
{
    float m_new[TRAITS::M_TILES][2];
    bool far = false;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            m_new[x][h] = new_maximum(acc, x, h);
            far = far || k * m_new[x][h] > k * acc->m[x][h] + FAR;
        }
    if (__any_sync(WHOLE_WARP, far))  // one decision per warp
#pragma unroll
        for (int x = 0; x < TRAITS::M_TILES; x++)
            for (int h = 0; h < 2; h++)
                move_maximum(acc, x, h, k, m_new[x][h]);
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++)
            acc->l[x][h] += weigh(acc, x, h, k, acc->m[x][h]);
}

#endif
