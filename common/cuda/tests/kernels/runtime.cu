/* The runtime: each function returns the line of a failure, or 0. */
#include "common/cuda/cpu.h"
#include "common/cuda/device.h"

#include <math.h>
#include <string.h>

#define EXPECT(condition)    \
    do {                     \
        if (!(condition))    \
            return __LINE__; \
    } while (0)

enum { N = 100 };

__global__ void add_one(float *x)
{
    x[threadIdx.x] += 1.0f;
}

extern "C" int LAUNCHER(copies)(void)
{
    float host[N], back[N], *a, *b;
    for (int k = 0; k < N; k++)
        host[k] = float(k);
    EXPECT(cudaMalloc(&a, sizeof host) == cudaSuccess);
    EXPECT(cudaMalloc((void **)&b, sizeof host) == cudaSuccess);
    EXPECT(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
    EXPECT(cudaMemcpyAsync(b, a, sizeof host, cudaMemcpyDeviceToDevice) == cudaSuccess);
    add_one<<<1, N>>>(b);
    EXPECT(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(cudaMemcpy(back, b, sizeof back, cudaMemcpyDefault) == cudaSuccess);
    for (int k = 0; k < N; k++)
        EXPECT(back[k] == float(k + 1));
    EXPECT(cudaMemset(b + 1, 0, 4 * sizeof *b) == cudaSuccess);
    EXPECT(cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess);
    EXPECT(back[0] == 1.0f && back[1] == 0.0f && back[4] == 0.0f && back[5] == 6.0f);
    EXPECT(cudaFree(a) == cudaSuccess && cudaFree(b) == cudaSuccess);
    EXPECT(cudaFree(nullptr) == cudaSuccess);
    return 0;
}

extern "C" int LAUNCHER(errors)(void)
{
    float host[N] = {}, *a;
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaMalloc(&a, sizeof host) == cudaSuccess);
    EXPECT(cudaMemcpy(a, host, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
    add_one<<<1, 1025>>>(a);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    add_one<<<1, N, 50000>>>(a);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000) ==
           cudaSuccess);
    EXPECT(cudaMemset(a, 0, sizeof host) == cudaSuccess);
    add_one<<<1, N, 50000>>>(a);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaFree(a) == cudaSuccess);
    EXPECT(cudaMalloc(&a, SIZE_MAX / 2) == cudaErrorMemoryAllocation && !a);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    return 0;
}

extern "C" int LAUNCHER(device)(void)
{
    cudaDeviceProp p;
    cudaEvent_t begin, end;
    cudaStream_t stream;
    float milliseconds = -1.0f;
    int count = 0, value = 0;
    EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
    EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaSetDevice(0) == cudaSuccess);
    EXPECT(cudaGetDeviceProperties(&p, 0) == cudaSuccess && p.warpSize == 32);
    EXPECT(p.major == 0 && p.multiProcessorCount > 0 && p.sharedMemPerBlock == 49152);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0) == cudaSuccess && value == 32);
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
    EXPECT(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess);
    EXPECT(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorInvalidValue);
    EXPECT(cudaEventRecord(begin, stream) == cudaSuccess && cudaEventRecord(end) == cudaSuccess);
    EXPECT(cudaEventSynchronize(end) == cudaSuccess);
    EXPECT(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess && milliseconds >= 0);
    EXPECT(cudaEventDestroy(begin) == cudaSuccess && cudaEventDestroy(end) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess &&
           cudaStreamDestroy(stream) == cudaSuccess);
    return 0;
}

extern "C" int LAUNCHER(streams)(void)
{
    float back[N], *a;
    cudaStream_t stream;
    const cudaError_t none = cudaErrorInvalidResourceHandle;
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess && cuda_cpu_works(stream) == 0);
    EXPECT(cudaMalloc(&a, sizeof back) == cudaSuccess);
    const size_t before = cuda_cpu_works(nullptr);
    EXPECT(cudaMemsetAsync(a, 0, sizeof back, stream) == cudaSuccess);
    add_one<<<1, N, 0, stream>>>(a);
    EXPECT(cudaGetLastError() == cudaSuccess && cuda_cpu_works(stream) == 2);
    EXPECT(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    EXPECT(back[N - 1] == 1.0f && cuda_cpu_works(stream) == 3);
    EXPECT(cuda_cpu_works(nullptr) == before);
    add_one<<<1, N>>>(a);
    EXPECT(cudaGetLastError() == cudaSuccess && cuda_cpu_works(nullptr) == before + 1);
    EXPECT(cudaMemset(a, 0, sizeof back) == cudaSuccess && cuda_cpu_works(nullptr) == before + 2);
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess && cudaStreamDestroy(stream) == none);
    EXPECT(cudaMemsetAsync(a, 0, sizeof back, stream) == none && cudaGetLastError() == none);
    add_one<<<1, N, 0, stream>>>(a);
    EXPECT(cudaGetLastError() == none);
    EXPECT(cudaFree(a) == cudaSuccess);
    return 0;
}

/* Names and kernel attributes are per device. */
extern "C" int LAUNCHER(devices)(void)
{
    enum { MUCH = 60000 };
    cudaDeviceProp p;
    float *a;
    int count = 0;
    cuda_cpu_devices(2, 0);
    EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count == 2);
    EXPECT(cudaSetDevice(2) == cudaErrorInvalidDevice && cudaSetDevice(-1) != cudaSuccess);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice && current_device() == 0);
    EXPECT(cudaMalloc(&a, N * sizeof *a) == cudaSuccess);
    EXPECT(cudaMemset(a, 0, N * sizeof *a) == cudaSuccess);
    allow_shared<add_one>(MUCH);
    add_one<<<1, N, MUCH>>>(a);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaSetDevice(1) == cudaSuccess && current_device() == 1);
    EXPECT(cudaGetDeviceProperties(&p, 1) == cudaSuccess && strstr(p.name, "GPU 1"));
    add_one<<<1, N, MUCH>>>(a);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    allow_shared<add_one>(MUCH);
    add_one<<<1, N, MUCH>>>(a);
    EXPECT(cudaGetLastError() == cudaSuccess);
    cuda_cpu_shared(MUCH - 1);
    allow_shared<add_one>(MUCH);  // a second setting would end the program
    add_one<<<1, N, MUCH>>>(a);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaFree(a) == cudaSuccess);
    return 0;
}

extern "C" int LAUNCHER(shared_memory)(int most)
{
    int value = 0;
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) ==
           cudaSuccess);
    EXPECT(value == most);
    const cudaFuncAttribute asked = cudaFuncAttributeMaxDynamicSharedMemorySize;
    EXPECT(cudaFuncSetAttribute(add_one, asked, most) == cudaSuccess);
    EXPECT(cudaFuncSetAttribute(add_one, asked, most + 1) == cudaErrorInvalidValue);
    return 0;
}

__global__ void find_shared(float *found)
{
    extern __shared__ float tile[];
    __shared__ float sum;
    __shared__ __half weight;
    if (threadIdx.x == 0) {
        found[3 * blockIdx.x] = tile[N - 1];
        found[3 * blockIdx.x + 1] = sum;
        found[3 * blockIdx.x + 2] = weight;
        tile[N - 1] = sum = 1.0f;
        weight = 1.0f;
    }
}

extern "C" int LAUNCHER(fresh_memory)(void)
{
    enum { BLOCKS = 20 };
    float found[3 * BLOCKS], *a;
    EXPECT(cudaMalloc(&a, sizeof found) == cudaSuccess);
    EXPECT(cudaMemcpy(found, a, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int k = 0; k < 3 * BLOCKS; k++)
        EXPECT(isnan(found[k]));
    for (int launch = 0; launch < 2; launch++) {
        memset(found, 0, sizeof found);
        EXPECT(cudaMemset(a, 0, sizeof found) == cudaSuccess);
        find_shared<<<BLOCKS, 33, N * sizeof(float)>>>(a);
        EXPECT(cudaGetLastError() == cudaSuccess);
        EXPECT(cudaMemcpy(found, a, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
        for (int k = 0; k < 3 * BLOCKS; k++)
            EXPECT(isnan(found[k]));
    }
    EXPECT(cudaFree(a) == cudaSuccess);
    return 0;
}
