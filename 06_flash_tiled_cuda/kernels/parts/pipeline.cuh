/*
 * Tiles of K and V that are on their way while others are worked on: STAGES of them have room in shared memory,
 * after the tile of Q.
 *
 * A thread issues the copies of its part of a tile with cp.async and goes on. What it issued between two commits is a
 * group, one for each tile, and it can wait for the oldest. That says nothing of what other threads issued: so
 * after the wait there is a barrier.
 */
#ifndef FLASH_TILED_CUDA_PIPELINE_CUH
#define FLASH_TILED_CUDA_PIPELINE_CUH

#include "06_flash_tiled_cuda/kernels/parts/swizzle.cuh"

/* As load_tile, and nothing is there yet. A row that is not there is filled with zeros. */
template <class TRAITS, class ROWS, class T>
__device__ static inline void copy_tile(uint4 *to, const T *from, int count, int end)
{
    for (int n = (int)threadIdx.x; n < count * TRAITS::ROW; n += TRAITS::THREADS) {
        const int r = n / TRAITS::ROW, c = n % TRAITS::ROW;
        const bool there = r < end;
        cp_async<16>(&to[ROWS::piece(r, c)], (const uint4 *)from + (there ? n : 0), there ? 16 : 0);
    }
}

/* Where the K of round n is; its V follows it. */
template <class TRAITS, int STAGES> __device__ static inline uint4 *stage_of(uint4 *smem, int n)
{
    return smem + (TRAITS::BR + n % STAGES * 2 * TRAITS::BC) * TRAITS::ROW;
}

/*
 * Issues the copies of tile number n of K and V, if there is one, and makes it a group; it is the one worked on in round
 * `round`. Nk is the number of keys.
 */
template <class TRAITS, int STAGES, class ROWS, class T>
__device__ static inline void copy_keys(uint4 *smem, int round, const T *K, const T *V, int n,
                                        int Nk)
{
    uint4 *const to = stage_of<TRAITS, STAGES>(smem, round);
    const int j0 = n * TRAITS::BC;
    if (j0 < Nk) {
        copy_tile<TRAITS, ROWS>(to, K + (size_t)j0 * TRAITS::D, TRAITS::BC, Nk - j0);
        copy_tile<TRAITS, ROWS>(to + TRAITS::BC * TRAITS::ROW, V + (size_t)j0 * TRAITS::D,
                                TRAITS::BC, Nk - j0);
    }
    cp_async_commit();  // a group may be empty: then a wait counts the same in every round
}

/* Bytes of shared memory that a kernel with so many stages needs. */
template <class TRAITS, int STAGES> constexpr size_t pipeline_bytes(void)
{
    return (size_t)(TRAITS::BR + 2 * STAGES * TRAITS::BC) * TRAITS::D * 2;
}

#endif
