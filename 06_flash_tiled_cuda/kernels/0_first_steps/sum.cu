/*
 * The sum of a row, by one block.                                                   n + 1 accesses
 *
 * Each thread sums every 256th element; in each round, half as many threads add two sums.
 */
#include "06_flash_tiled_cuda/kernels/0_first_steps/first_steps.h"
#include "common/cuda/device.h"

enum { THREADS = 256 };

static __global__ void sum(const float *x, size_t n, float *result)
{
    __shared__ float sums[THREADS];
    float my_sum = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += THREADS)
        my_sum += x[i];
    sums[threadIdx.x] = my_sum;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *result = sums[0];
}

extern "C" float LAUNCHER(sum_row)(const float *x, size_t n)
{
    const size_t bytes = n * sizeof(float);
    float *x_gpu, *result_gpu, result;
    if (n == 0)
        return 0.0f;
    CHECK_CUDA(cudaMalloc(&x_gpu, bytes));
    CHECK_CUDA(cudaMalloc(&result_gpu, sizeof result));
    CHECK_CUDA(cudaMemcpy(x_gpu, x, bytes, cudaMemcpyHostToDevice));
    sum<<<1, THREADS>>>(x_gpu, n, result_gpu);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(&result, result_gpu, sizeof result, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(x_gpu));
    CHECK_CUDA(cudaFree(result_gpu));
    return result;
}
