#ifndef COMMON_CUDA_TESTS_HOPPER_BUGS_CUH
#define COMMON_CUDA_TESTS_HOPPER_BUGS_CUH

#include "common/cuda/tests/kernels/bugs.cuh"

#include "common/cuda/hopper.h"

enum { BOX = 256, GROUP = 128, BYTES_16K = 16384 };

/* All of `in` as a box: two rows of 32 floats. */
static inline tensor_map map_of(const float *in)
{
    const uint64_t size[2] = { 32, 2 }, stride[1] = { 128 };
    const uint32_t box[2] = { 32, 2 };
    tensor_map map;
    CHECK_CUDA(tensor_map_make(&map, in, 2, size, stride, box));
    return map;
}

#endif
