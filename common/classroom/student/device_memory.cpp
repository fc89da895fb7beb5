// The device's memory, for kernel.c.
#include "common/cuda/device.h"

extern "C" void *device_copy(const void *from, size_t bytes, const char *name)
{
    void *array = nullptr;
    CHECK_CUDA(cudaMalloc(&array, bytes));
    cuda_name(array, name, sizeof(float));
    CHECK_CUDA(cudaMemcpy(array, from, bytes, cudaMemcpyHostToDevice));
    return array;
}

extern "C" void device_read(void *to, const void *array, size_t bytes)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(to, array, bytes, cudaMemcpyDeviceToHost));
}

extern "C" void device_free(const void *array)
{
    CHECK_CUDA(cudaFree(const_cast<void *>(array)));
}
