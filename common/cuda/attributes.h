/*
 * Device attributes for launchers.
 *
 *     allow_shared<tile<T, D>>(bytes);
 *     tile<T, D><<<grid, THREADS, bytes, stream>>>(…);
 */
#ifndef COMMON_CUDA_ATTRIBUTES_H
#define COMMON_CUDA_ATTRIBUTES_H

#include "common/cuda/check.h"

#include <cstddef>
#include <cstdint>
#include <pthread.h>

static inline int current_device()
{
    int device = 0;
    CHECK_CUDA(cudaGetDevice(&device));
    return device;
}

/*
 * Allows the kernel `bytes` of dynamic shared memory per block, even above the default 48 kB. Lasts
 * until the program ends, so it is set once per kernel and device, always to the same value.
 */
template <auto KERNEL>
static inline void allow_shared(size_t bytes, const char *file = __builtin_FILE(),
                                int line = __builtin_LINE())
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t done;  // one bit per device; above 63 it is set every time
    const int device = current_device();
    const uint64_t bit = device < 64 ? UINT64_C(1) << device : 0;
    pthread_mutex_lock(&lock);
    if (!(done & bit))
        cuda_check(
            cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
            "cudaFuncSetAttribute", file, line);
    done |= bit;
    pthread_mutex_unlock(&lock);
}

#endif
