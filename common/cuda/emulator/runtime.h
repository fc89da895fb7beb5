/*
 * The part of CUDA's runtime that the course uses. Every call is synchronous: streams are empty and
 * count their work; events are clocks.
 */
#ifndef COMMON_CUDA_RUNTIME_H
#define COMMON_CUDA_RUNTIME_H

#include "common/cuda/language.h"

#include <cstddef>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchTimeout = 702,
};

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
};

enum cudaDeviceAttr {
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

/* Of the CPU; registers are left out. */
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
    int multiProcessorCount;
    int major, minor;  // 0, 0: no GPU
};

typedef struct CUstream_st *cudaStream_t;
typedef struct cudaEvent *cudaEvent_t;

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void **p, size_t bytes, CUDA_SITE);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *p, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

/*
 * Names an array in reports, and for the access counter, which counts elements of `element` bytes
 * and keeps the pointer `name`.
 */
void cuda_name(const void *array, const char *name, size_t element);

template <class T> static inline void cuda_name(const T *array, const char *name)
{
    cuda_name(array, name, sizeof *array);
}

namespace cpu
{

cudaError_t function_attribute(const void *kernel, cudaFuncAttribute attribute, int value);

/* Bytes allowed per block on the current device. */
size_t shared_limit_of(const void *kernel);

/* Counts an operation; an error if the stream does not exist. */
cudaError_t stream_given(cudaStream_t stream);

}  // namespace cpu

template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes, CUDA_SITE)
{
    void *room = nullptr;
    const cudaError_t error = cudaMalloc(&room, bytes, file, line);
    *p = static_cast<T *>(room);
    return error;
}

template <class... P>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute,
                                               int value)
{
    return cpu::function_attribute(reinterpret_cast<const void *>(kernel), attribute, value);
}

#endif
