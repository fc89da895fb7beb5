/*
 * CUDA's keywords and built-in variables, for a C++ compiler.
 *
 * A kernel is an ordinary function here, and threadIdx is read from the thread that runs: `self`.
 * What is left of the language, launches and shared memory, is rewritten by to_cpp.sed before the
 * compiler sees it.
 */
#ifndef COMMON_CUDA_LANGUAGE_H
#define COMMON_CUDA_LANGUAGE_H

#include "common/cuda/emulator/block.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>

/*
 * A program holds each kernel twice, once instrumented (watch.h). The linker takes functions of the same
 * name for the same function, so each build has a namespace of its own.
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

/* The place of a call, as default arguments: they name the caller's file and line. */
#define CUDA_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void __syncthreads(CUDA_SITE)
{
    cpu::barrier("__syncthreads()", { file, line }, false);
}

/* Barriers that also tell how many threads, whether all, and whether any came with a true value. */
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

/* Threads of a block take turns, and a switch between them orders everything. */
static inline void __threadfence_block()
{
}

static inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
