/* Devices (this CPU), streams (always empty) and events (clocks). */
#include "common/cuda/emulator/errors.h"
#include "common/cuda/emulator/settings.h"
#include "common/cuda/emulator/shared.h"

#include <chrono>
#include <map>
#include <thread>

using namespace cpu;

// ---- the device ---------------------------------------------------------------------------------

static thread_local int current;

void cuda_cpu_devices(int count, int device)
{
    settings.devices = count;
    current = device;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = settings.devices;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= settings.devices)
        return result(cudaErrorInvalidDevice);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (device < 0 || device >= settings.devices)
        return result(cudaErrorInvalidDevice);
    *p = {};
    size_t free = 0;
    cudaMemGetInfo(&free, &p->totalGlobalMem);
    snprintf(p->name, sizeof p->name, "CPU in place of a GPU");
    if (device > 0)
        snprintf(p->name, sizeof p->name, "CPU in place of GPU %d", device);
    p->sharedMemPerBlock = SHARED_USUAL;
    p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor = settings.shared;
    p->warpSize = WARP;
    p->maxThreadsPerBlock = p->maxThreadsPerMultiProcessor = MAX_THREADS;
    p->multiProcessorCount =
        int(settings.threads ? settings.threads : std::thread::hardware_concurrency());
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p = {};
    const cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
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

// ---- streams and events -------------------------------------------------------------------------

struct CUstream_st {
};

/* Operations per stream. Never destroyed: used until the program ends. */
static std::map<cudaStream_t, size_t> &works()
{
    static auto *all = new std::map<cudaStream_t, size_t>{ { nullptr, 0 } };
    return *all;
}

cudaError_t cpu::stream_given(cudaStream_t stream)
{
    const auto found = works().find(stream);
    if (found == works().end())
        return cudaErrorInvalidResourceHandle;
    found->second++;
    return cudaSuccess;
}

CUstream_st *cuda_cpu_stream()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    return stream;
}

size_t cuda_cpu_works(CUstream_st *stream)
{
    return works().at(stream);
}

struct cudaEvent {
    std::chrono::steady_clock::time_point time;
    bool recorded;
};

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = new CUstream_st;
    works()[*stream] = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream || works().erase(stream) == 0)
        return result(cudaErrorInvalidResourceHandle);
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
