/*
 * Permuted chunks, so that ldmatrix has no bank conflicts.
 *
 * ldmatrix reads chunk c, 4 of 32 banks wide, of 8 rows. Rows of 64 or 128 elements begin in bank
 * 0, an 8-way conflict; with chunk c at c xor (r mod 8), there is none. Rows of 32 or 96 begin in
 * banks 0 and 16: r / 2 mod 4. Rows of 16: r / 4 mod 2.
 */
#ifndef FLASH_TILED_CUDA_SWIZZLE_CUH
#define FLASH_TILED_CUDA_SWIZZLE_CUH

#include "06_flash_tiled_cuda/kernels/parts/fragments.cuh"

template <class TRAITS> struct swizzled_rows {
    __device__ static inline int at(int r, int c)
    {
        // BEGIN SOLUTION
        const int mask = TRAITS::D % 64 == 0 ? r % 8 : TRAITS::D % 32 == 0 ? r / 2 % 4 : r / 4 % 2;
        return r * TRAITS::ROW + (c ^ mask);
        // END SOLUTION
        // STUB: return r * TRAITS::ROW + c;
    }
};

#endif
