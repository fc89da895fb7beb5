/*
 * The one header that a .cu file includes for CUDA: the toolkit's headers with nvcc, otherwise the
 * course's emulator, which runs the same source on a CPU (README.md).
 *
 * A launcher is the C function that the program calls, compiled three times from one source: for
 * the CPU, for the CPU with every memory access instrumented, for the GPU.
 *
 *     extern "C" void LAUNCHER(fa2)(const struct attention *p, …)     fa2_cpu, fa2_instrumented, fa2_gpu
 */
#ifndef COMMON_CUDA_DEVICE_H
#define COMMON_CUDA_DEVICE_H

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#define LAUNCHER(name) name##_gpu

static inline void cuda_name(const void *array, const char *name, size_t element = 0)
{
    (void)array, (void)name, (void)element;
}
#else
#ifdef CUDA_INSTRUMENTED
#define LAUNCHER(name) name##_instrumented
#else
#define LAUNCHER(name) name##_cpu
#endif
#include "common/cuda/language.h"

#include "common/cuda/emulator/atomics.h"
#include "common/cuda/emulator/intrinsics.h"
#include "common/cuda/emulator/launch.h"
#include "common/cuda/emulator/refused.h"
#include "common/cuda/emulator/runtime.h"
#include "common/cuda/emulator/shared.h"
#include "common/cuda/emulator/vectors.h"
#include "common/cuda/emulator/warp.h"
#include "common/cuda/half.h"
#endif

#include "common/cuda/attributes.h"
#include "common/cuda/check.h"
#include "common/cuda/tensor.h"

#endif
