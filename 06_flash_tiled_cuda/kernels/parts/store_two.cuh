#ifndef FLASH_TILED_CUDA_STORE_TWO_CUH
#define FLASH_TILED_CUDA_STORE_TWO_CUH

#include "common/cuda/device.h"

/* Stores elements x and x + 1 if below d; x is even. */
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
