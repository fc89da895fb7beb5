#ifndef COMMON_CUDA_TESTS_ARRAYS_CUH
#define COMMON_CUDA_TESTS_ARRAYS_CUH

#include "common/cuda/device.h"

template <class T> static T *there(const T *host, size_t n)
{
    T *array;
    CHECK_CUDA(cudaMalloc(&array, n * sizeof *host));
    CHECK_CUDA(cudaMemcpy(array, host, n * sizeof *host, cudaMemcpyHostToDevice));
    return array;
}

template <class T> static void back(T *host, T *array, size_t n)
{
    CHECK_CUDA(cudaMemcpy(host, array, n * sizeof *host, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(array));
}

#endif
