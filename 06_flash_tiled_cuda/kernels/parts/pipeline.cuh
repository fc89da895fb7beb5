/*
 * K and V are copied ahead, into STAGES stages after Q in shared memory. Each tile is a group of
 * cp.async copies; a thread waits for its own oldest group, then meets the others at a barrier.
 */
#ifndef FLASH_TILED_CUDA_PIPELINE_CUH
#define FLASH_TILED_CUDA_PIPELINE_CUH

#include "06_flash_tiled_cuda/kernels/parts/swizzle.cuh"

/* Like load_tile. */
template <class TRAITS, class LAYOUT, class T>
__device__ static inline void copy_tile(uint4 *to, const T *from, int count, int end)
{
    for (int n = (int)threadIdx.x; n < count * TRAITS::ROW; n += TRAITS::THREADS) {
        const int r = n / TRAITS::ROW, c = n % TRAITS::ROW;
        const bool valid = r < end;
        cp_async<16>(&to[LAYOUT::at(r, c)], (const uint4 *)from + (valid ? n : 0), valid ? 16 : 0);
    }
}

/* K of iteration n (chapter 07: or Q); V (or dO) follows it. */
template <class TRAITS, int STAGES> __device__ static inline uint4 *stage_of(uint4 *smem, int n)
{
    return smem + (TRAITS::BR + n % STAGES * 2 * TRAITS::BC) * TRAITS::ROW;
}

/* Copies tile n for `iteration`; keys >= `end` are zeros. */
template <class TRAITS, int STAGES, class LAYOUT, class T>
__device__ static inline void copy_keys(uint4 *smem, int iteration, const T *K, const T *V, int n,
                                        int end)
{
    uint4 *const to = stage_of<TRAITS, STAGES>(smem, iteration);
    const int j0 = n * TRAITS::BC;
    if (j0 < end) {
        copy_tile<TRAITS, LAYOUT>(to, K + (size_t)j0 * TRAITS::D, TRAITS::BC, end - j0);
        copy_tile<TRAITS, LAYOUT>(to + TRAITS::BC * TRAITS::ROW, V + (size_t)j0 * TRAITS::D,
                                  TRAITS::BC, end - j0);
    }
    cp_async_commit();  // empty groups too: waits count groups
}

template <class TRAITS, int STAGES> constexpr size_t pipeline_bytes(void)
{
    return (size_t)(TRAITS::BR + 2 * STAGES * TRAITS::BC) * TRAITS::D * 2;
}

#endif
