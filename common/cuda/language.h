/*
 * CUDA's keywords and built-in variables for a C++ compiler: threadIdx is that of the running
 * thread, `self`. to_cpp.sed rewrites launches and shared memory.
 */
#ifndef COMMON_CUDA_LANGUAGE_H
#define COMMON_CUDA_LANGUAGE_H

#include "common/cuda/emulator/block.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>

/*
 * A program links each kernel twice, once instrumented (watch.h); namespaces keep the linker from
 * merging them.
 */
#ifdef CUDA_INSTRUMENTED
#define CUDA_BUILD cuda_instrumented
#else
#define CUDA_BUILD cuda_plain
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ a_declaration_of_shared_memory_begins_its_line_and_has_no_initialiser

#define threadIdx (cpu::self->thread_index)
#define blockIdx (cpu::self->block_index)
#define blockDim (cpu::self->block_size)
#define gridDim (cpu::self->grid_size)
enum { warpSize = 32 };

/* The caller's file and line, as default arguments. */
#define CUDA_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void __syncthreads(CUDA_SITE)
{
    cpu::barrier("__syncthreads()", { file, line }, false);
}

/* Return how many, whether all, or whether any values are true. */
static inline int __syncthreads_count(int value, CUDA_SITE)
{
    return cpu::barrier("__syncthreads_count()", { file, line }, value != 0);
}

static inline int __syncthreads_and(int value, CUDA_SITE)
{
    const int threads = int(blockDim.x * blockDim.y * blockDim.z);
    return cpu::barrier("__syncthreads_and()", { file, line }, value != 0) == threads;
}

static inline int __syncthreads_or(int value, CUDA_SITE)
{
    return cpu::barrier("__syncthreads_or()", { file, line }, value != 0) > 0;
}

/* Threads of a block take turns on one OS thread, so their accesses are ordered. */
static inline void __threadfence_block()
{
}

static inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
