/*
 * Measures a device: bytes copied and float32 operations per second. Also runs the shuffles of a
 * row's maximum one by one, for the page.
 */
#include "common/cuda/device.h"
#include "common/lab/device.h"

#include <math.h>

enum { THREADS = 256, CHAINS = 8, ROUNDS = 4096 };

/* Each thread copies four elements, then those a whole grid further, and so on. */
static __global__ void copy(const float4 *from, float4 *to, size_t n)
{
    const size_t step = (size_t)gridDim.x * THREADS;
    for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < n; k += step)
        to[k] = from[k];
}

/* Eight independent chains of multiply-adds keep the units busy. */
static __global__ void multiply_add(float *sums, float factor, int rounds)
{
    float x[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        x[c] = (float)(threadIdx.x + (unsigned)c);
    for (int n = 0; n < rounds; n++)
        for (int c = 0; c < CHAINS; c++)
            x[c] = x[c] * factor + 1.0f;
    float sum = 0.0f;
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* The best of five runs, so that the kernel is warm. */
template <class Launch> static double best_of(Launch launch)
{
    double best = (double)INFINITY;
    const auto work = [](void *arg) { (*static_cast<Launch *>(arg))(); };
    for (int run = 0; run < 5; run++)
        best = fmin(best, LAUNCHER(device).seconds(work, &launch));
    CHECK_CUDA(cudaGetLastError());
    return best;
}

/* A grid that fills the device. */
static unsigned blocks(void)
{
    cudaDeviceProp p;
    CHECK_CUDA(cudaGetDeviceProperties(&p, current_device()));
    return (unsigned)(p.multiProcessorCount * (p.maxThreadsPerMultiProcessor / THREADS));
}

/*
 * Bytes, far more than a GPU's L2 cache holds, and multiply-adds per chain. The CPU is slower, so
 * both are smaller there.
 */
#ifdef __CUDACC__
static const size_t COPIED = (size_t)1 << 30;
static const int CHAIN_LENGTH = ROUNDS;
#else
static const size_t COPIED = (size_t)1 << 22;
static const int CHAIN_LENGTH = ROUNDS / 64;
#endif

extern "C" double LAUNCHER(bandwidth)(void)
{
    float4 *from, *to;
    CHECK_CUDA(cudaMalloc(&from, COPIED));
    CHECK_CUDA(cudaMalloc(&to, COPIED));
    CHECK_CUDA(cudaMemset(from, 0, COPIED));
    const unsigned grid = blocks();
    const double time = best_of([=] { copy<<<grid, THREADS>>>(from, to, COPIED / sizeof *from); });
    CHECK_CUDA(cudaFree(from));
    CHECK_CUDA(cudaFree(to));
    return 2.0 * (double)COPIED / time;
}

extern "C" double LAUNCHER(fma_peak)(void)
{
    float *sums;
    const unsigned grid = blocks();
    CHECK_CUDA(cudaMalloc(&sums, sizeof *sums * THREADS * grid));
    const double time = best_of([=] { multiply_add<<<grid, THREADS>>>(sums, 0.5f, CHAIN_LENGTH); });
    CHECK_CUDA(cudaFree(sums));
    const size_t threads = (size_t)grid * THREADS;
    return 2.0 * (double)(CHAINS * CHAIN_LENGTH) * (double)threads / time;
}

// ---- by hand ------------------------------------------------------------------------------------

static __global__ void row_max_steps(const float *x, float *after)
{
    float m = x[threadIdx.x];
    for (int n = 0; n < 3; n++) {
        m = fmaxf(m, __shfl_xor_sync(0xff, m, 1 << n, 8));
        after[n * 8 + (int)threadIdx.x] = m;
    }
}

extern "C" void LAUNCHER(row_max_steps)(const float *x, float after[3][8])
{
    float *numbers, *results;
    CHECK_CUDA(cudaMalloc(&numbers, 8 * sizeof *x));
    CHECK_CUDA(cudaMalloc(&results, 24 * sizeof *x));
    CHECK_CUDA(cudaMemcpy(numbers, x, 8 * sizeof *x, cudaMemcpyHostToDevice));
    row_max_steps<<<1, 8>>>(numbers, results);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(after, results, 24 * sizeof *x, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaFree(numbers));
    CHECK_CUDA(cudaFree(results));
}
