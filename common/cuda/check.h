/*
 * Error checks: a failed call ends the program with status 2 and one line: place, call, error,
 * hint.
 *
 *     CHECK_CUDA(cudaMalloc(&Q, bytes));
 *     kernel<<<grid, block>>>(Q);
 *     CHECK_LAUNCH("kernel");
 */
#ifndef COMMON_CUDA_CHECK_H
#define COMMON_CUDA_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static inline const char *cuda_hint(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidValue:
        return "; check that each pointer is host or device memory as required, and that sizes "
               "match";
    case cudaErrorMemoryAllocation:
        return "; try a smaller problem or fewer heads";
    case cudaErrorInvalidConfiguration:
        return "; a block has at most 1024 threads, a grid at most 65535 blocks in y and z";
    case cudaErrorInvalidDevice:
    case cudaErrorNoDevice:
        return "; nvidia-smi lists the GPUs; --device cpu needs none";
    case cudaErrorInsufficientDriver:
        return "; the driver is older than the toolkit: update it";
    case cudaErrorNoKernelImageForDevice:
        return "; built for other GPUs: make cuda builds for this one";
    case cudaErrorIllegalAddress:
        return "; the same kernel with --device cpu reports the thread and line";
    case cudaErrorLaunchTimeout:
        return "; this GPU also drives a display: use a smaller problem";
    default:
        return "";
    }
}

static inline void cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s failed: %s (%s)%s\n", file, line, call, cudaGetErrorName(error),
            cudaGetErrorString(error), cuda_hint(error));
    exit(2);
}

#define CHECK_CUDA(call) cuda_check(call, #call, __FILE__, __LINE__)

#define CHECK_LAUNCH(kernel)                                                           \
    do {                                                                               \
        cuda_check(cudaGetLastError(), "the launch of " kernel, __FILE__, __LINE__);   \
        cuda_check(cudaDeviceSynchronize(), "the kernel " kernel, __FILE__, __LINE__); \
    } while (0)

/*
 * Aborts: no kernel is compiled for this problem, which the program should have rejected.
 *
 *     not_compiled(__func__, "d = %zu", p->d);
 */
static inline __attribute__((noreturn, format(printf, 2, 3))) void
not_compiled(const char *launcher, const char *format, ...)
{
    va_list what;
    va_start(what, format);
    fprintf(stderr, "%s: not compiled for ", launcher);
    vfprintf(stderr, format, what);
    fputs("; the program should have rejected it\n", stderr);
    va_end(what);
    abort();
}

#endif
