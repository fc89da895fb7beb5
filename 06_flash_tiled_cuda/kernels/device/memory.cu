/*
 * A device's memory and clock.
 */
#include "common/lab/device.h"

#include "common/cuda/device.h"

#include <stdio.h>

static const char *why_not(void)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        return cudaGetErrorString(error);
    return count > 0 ? nullptr : "it finds no device";
}

static void facts(struct device_facts *f)
{
    cudaDeviceProp p;
    *f = {};
    CHECK_CUDA(cudaGetDeviceProperties(&p, current_device()));
    snprintf(f->name, sizeof f->name, "%.99s", p.name);
    f->processors = p.multiProcessorCount;
    f->warp = p.warpSize;
    f->threads_per_block = p.maxThreadsPerBlock;
    f->threads_per_processor = p.maxThreadsPerMultiProcessor;
    f->shared_per_block = p.sharedMemPerBlock;
    f->shared_at_most = p.sharedMemPerBlockOptin;
    f->shared_per_processor = p.sharedMemPerMultiprocessor;
    f->memory = p.totalGlobalMem;
    f->major = p.major;
    f->minor = p.minor;
#ifdef __CUDACC__  // the CPU has no such registers, and its own caches
    f->registers_per_processor = p.regsPerMultiprocessor;
    f->L2 = (size_t)p.l2CacheSize;
#endif
}

static void *allocate(size_t bytes, const char *name)
{
    void *array = nullptr;
    CHECK_CUDA(cudaMalloc(&array, bytes));
    if (name)
        cuda_name(array, name, sizeof(float));
    return array;
}

static void release(void *array)
{
    CHECK_CUDA(cudaFree(array));
}

static void upload(void *array, const void *from, size_t bytes)
{
    CHECK_CUDA(cudaMemcpy(array, from, bytes, cudaMemcpyHostToDevice));
}

static void download(void *to, const void *array, size_t bytes)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(to, array, bytes, cudaMemcpyDeviceToHost));
}

#ifdef __CUDACC__
/* Busy for about 0.2 ms, until the host has issued all that is timed. */
static __global__ void keep_busy()
{
    for (const long long begin = clock64(); clock64() - begin < 400000;)
        ;
}
#endif

static double seconds(void (*work)(void *arg), void *arg)
{
    cudaEvent_t begin, end;
    float milliseconds = 0.0f;
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));
#ifdef __CUDACC__
    keep_busy<<<1, 1>>>();
    CHECK_CUDA(cudaGetLastError());
#endif
    CHECK_CUDA(cudaEventRecord(begin, nullptr));
    work(arg);
    CHECK_CUDA(cudaEventRecord(end, nullptr));
    CHECK_CUDA(cudaEventSynchronize(end));
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK_CUDA(cudaEventDestroy(begin));
    CHECK_CUDA(cudaEventDestroy(end));
    return 1e-3 * (double)milliseconds;
}

extern "C" double LAUNCHER(bandwidth)(void);
extern "C" double LAUNCHER(fma_peak)(void);
extern "C" void LAUNCHER(row_max_steps)(const float *x, float after[3][8]);

extern "C" const struct device LAUNCHER(device) = {
#ifdef __CUDACC__
    "gpu",
    BUILD_GPU,
#elif defined CUDA_INSTRUMENTED
    "cpu",
    BUILD_INSTRUMENTED,
#else
    "cpu",
    BUILD_CPU,
#endif
    why_not,
    facts,
    allocate,
    release,
    upload,
    download,
    seconds,
    LAUNCHER(bandwidth),
    LAUNCHER(fma_peak),
    LAUNCHER(row_max_steps),
};
