/* A first kernel: c = a + b.                                                          3 n accesses */
#include "06_flash_tiled_cuda/kernels/0_first_steps/first_steps.h"
#include "common/cuda/device.h"

enum { THREADS = 256 };  // per block

static __global__ void add(const float *a, const float *b, float *c, size_t n)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" void LAUNCHER(add_vectors)(const float *a, const float *b, float *c, size_t n)
{
    const size_t bytes = n * sizeof(float), blocks = (n + THREADS - 1) / THREADS;
    float *a_gpu, *b_gpu, *c_gpu;
    if (n == 0)
        return;
    CHECK_CUDA(cudaMalloc(&a_gpu, bytes));
    CHECK_CUDA(cudaMalloc(&b_gpu, bytes));
    CHECK_CUDA(cudaMalloc(&c_gpu, bytes));
    CHECK_CUDA(cudaMemcpy(a_gpu, a, bytes, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(b_gpu, b, bytes, cudaMemcpyHostToDevice));
    add<<<(unsigned)blocks, THREADS>>>(a_gpu, b_gpu, c_gpu, n);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(c, c_gpu, bytes, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(a_gpu));
    CHECK_CUDA(cudaFree(b_gpu));
    CHECK_CUDA(cudaFree(c_gpu));
}
