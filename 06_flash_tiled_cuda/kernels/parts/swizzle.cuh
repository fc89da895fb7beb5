/*
 * Permuted pieces, so that ldmatrix has no bank conflicts.
 *
 * ldmatrix reads piece c of 8 rows at a time. A piece is 4 of 32 banks wide, and rows of 64 or 128
 * elements all begin in bank 0, so piece c of 8 rows would be in the same 4 banks: 8 cycles instead
 * of 1. In place c xor (r mod 8) the eight are in different banks.
 *
 * Rows of 32 or 96 elements begin in banks 0 and 16 and have 4 or 12 pieces: r / 2 mod 4. Rows of
 * 16 (chapter 07) have 2 pieces: r / 4 mod 2.
 */
#ifndef FLASH_TILED_CUDA_SWIZZLE_CUH
#define FLASH_TILED_CUDA_SWIZZLE_CUH

#include "06_flash_tiled_cuda/kernels/parts/fragments.cuh"

template <class TRAITS> struct swizzled_rows {
    __device__ static inline int piece(int r, int c)
    {
        // BEGIN SOLUTION
        const int turn = TRAITS::D % 64 == 0 ? r % 8 : TRAITS::D % 32 == 0 ? r / 2 % 4 : r / 4 % 2;
        return r * TRAITS::ROW + (c ^ turn);
        // END SOLUTION
        // STUB: return r * TRAITS::ROW + c;
    }
};

#endif
