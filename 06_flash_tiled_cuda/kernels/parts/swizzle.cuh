/*
 * Rows in shared memory with their pieces in another order, so that no bank is waited for.
 *
 * ldmatrix reads the same piece c of 8 rows at a time. A piece is 4 banks wide, and 8 of them are all 32. Rows of
 * 64 or 128 elements begin in bank 0 each, so 8 rows' piece c lies in the same 4 banks: 8 cycles instead of 1.
 * If row r has its piece c in place c xor (r mod 8), the eight lie in 8 different places. xor with one number is
 * its own inverse and loses none, so every piece still has a place of its own in its row.
 *
 * Rows of 32 or 96 elements begin in bank 0 and 16 in turn, and have 4 or 12 pieces: there it is r / 2 mod 4. Rows of 16,
 * which chapter 07 has, fill a quarter of the banks and have 2 pieces: r / 4 mod 2.
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
