/*
 * Rows in float32 from registers, for chapters 06 and 07.
 */
#ifndef FLASH_TILED_CUDA_STORE_TWO_CUH
#define FLASH_TILED_CUDA_STORE_TWO_CUH

#include "common/cuda/device.h"

/* Stores elements x, which is even, and x + 1 of a row of d elements, as far as it has them. */
__device__ static inline void store_two(float *row, int x, int d, float2 two)
{
    if (d % 2 == 0 && x < d)
        *(float2 *)(row + x) = two;
    else if (x < d)
        row[x] = two.x;
    if (d % 2 == 1 && x + 1 < d)
        row[x + 1] = two.y;
}

#endif
