#include "runtime.h"

#include "diagnose.h"
#include "engine.h"
#include "memory.h"
#include "shared.h"
#include "watch.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <unistd.h>

namespace cpu
{

cudaError_t result(cudaError_t error);  // errors.cpp

static void only_on_the_host(const char *name)
{
    if (self)
        refuse("%s is called in a kernel", name);
}

// ---- functions ----------------------------------------------------------------------------------

static std::map<const void *, int> &shared_limits()
{
    static auto *all = new std::map<const void *, int>;
    return *all;
}

cudaError_t function_attribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return cudaSuccess;  // advice, which changes no result
    if (value < 0 || value > SHARED_MOST)
        return result(cudaErrorInvalidValue);
    shared_limits()[kernel] = value;
    return cudaSuccess;
}

size_t shared_limit_of(const void *kernel)
{
    const auto found = shared_limits().find(kernel);
    if (found == shared_limits().end() || found->second < SHARED_USUAL)
        return SHARED_USUAL;
    return size_t(found->second);
}

}  // namespace cpu

using namespace cpu;

// ---- memory -------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void **p, size_t bytes, const char *file, int line)
{
    only_on_the_host("cudaMalloc");
    *p = bytes > 0 ? memory_allocate(bytes, { file, line }) : nullptr;
    return result(*p || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *p)
{
    only_on_the_host("cudaFree");
    return result(!p || memory_free(p) ? cudaSuccess : cudaErrorInvalidValue);
}

/* Is all of it device memory, where that is wanted, and none of it where not? */
static bool fits(const void *p, size_t bytes, bool device)
{
    return device ? on_device(p, bytes) : !allocation_of(p);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    only_on_the_host("cudaMemcpy");
    if (bytes == 0)
        return result(cudaSuccess);
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        to_device = allocation_of(to);
        from_device = allocation_of(from);
    }
    if (!fits(to, bytes, to_device) || !fits(from, bytes, from_device))
        return result(cudaErrorInvalidValue);
    memory_expose();
    memmove(to, from, bytes);
    memory_hide();
    return result(cudaSuccess);
}

cudaError_t cudaMemset(void *p, int byte, size_t bytes)
{
    only_on_the_host("cudaMemset");
    if (bytes == 0)
        return result(cudaSuccess);
    if (!on_device(p, bytes))
        return result(cudaErrorInvalidValue);
    memory_expose();
    memset(p, byte, bytes);
    memory_hide();
    return result(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *free = *total = pages > 0 && page > 0 ? size_t(pages) * size_t(page) : 0;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = malloc(bytes);
    return result(*p || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}

void cuda_name(const void *array, const char *name)
{
    memory_name(array, name);
    watch_named(array, name);
}

// ---- the device ---------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (device != 0)
        return result(cudaErrorInvalidDevice);
    *p = {};
    size_t free = 0;
    cudaMemGetInfo(&free, &p->totalGlobalMem);
    snprintf(p->name, sizeof p->name, "CPU in place of a GPU");
    p->sharedMemPerBlock = SHARED_USUAL;
    p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor = SHARED_MOST;
    p->warpSize = WARP;
    p->maxThreadsPerBlock = p->maxThreadsPerMultiProcessor = MOST_THREADS;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = MOST_THREADS;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->multiProcessorCount =
        int(engine.threads ? engine.threads : std::thread::hardware_concurrency());
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p;
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = int(p.sharedMemPerBlock);
        break;
    case cudaDevAttrWarpSize:
        *value = p.warpSize;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = int(p.sharedMemPerBlockOptin);
        break;
    default:
        return result(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    only_on_the_host("cudaDeviceSynchronize");
    return cudaSuccess;
}

cudaError_t cudaDeviceReset()
{
    return cudaSuccess;
}

// ---- streams and events -------------------------------------------------------------------------

struct cudaStream {
    unsigned flags;
};

struct cudaEvent {
    std::chrono::steady_clock::time_point time;
    bool recorded;
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new cudaStream{ flags };
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new cudaEvent{};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    if (!begin->recorded || !end->recorded)
        return result(cudaErrorInvalidValue);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
}
