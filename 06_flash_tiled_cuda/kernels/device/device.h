/*
 * The machine that kernels run on, as a C program sees it: its memory, and what it can do.
 *
 * All of it comes from CUDA sources, and so from each of their builds: for the CPU, for the CPU with
 * every access instrumented, and by nvcc for a GPU.
 */
#ifndef FLASH_TILED_CUDA_DEVICE_H
#define FLASH_TILED_CUDA_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As CUDA's headers have it. NULL is the default stream. */
typedef struct CUstream_st *cudaStream_t;

/* A .cu file is compiled three times, and a launcher in it has three names: fa2_cpu, fa2_instrumented and fa2_gpu. */
enum build { BUILD_CPU, BUILD_INSTRUMENTED, BUILD_GPU, BUILDS };

/* The three as an array's values, and their declaration. */
#ifdef WITH_GPU
#define LAUNCHERS(name)                             \
    {                                               \
        name##_cpu, name##_instrumented, name##_gpu \
    }
#else
#define LAUNCHERS(name)                 \
    {                                   \
        name##_cpu, name##_instrumented \
    }
#endif
#define DECLARE_LAUNCHERS(type, name) type name##_cpu, name##_instrumented, name##_gpu;

/* What the runtime says of a device. */
struct device_facts {
    char name[100];
    int processors;  // streaming multiprocessors
    int warp, threads_per_block, threads_per_processor, registers_per_processor;
    size_t shared_per_block, shared_per_processor, L2, memory;  // bytes
    size_t shared_at_most;  // per block, for kernels that ask for more than shared_per_block
    int major, minor;       // compute capability; 0 for the CPU
};

struct device {
    const char *name;  // "cpu", "gpu"
    enum build build;  // which launchers run on it

    const char *(*why_not)(void);  // what the runtime says if there is no such machine; else NULL
    void (*facts)(struct device_facts *facts);

    /* An array of so many bytes in its memory, which reports and the access counter know as `name`,
     * unless that is NULL. Where there is no room for it the program ends. */
    void *(*allocate)(size_t bytes, const char *name);
    void (*release)(void *array);
    void (*upload)(void *array, const void *from, size_t bytes);
    void (*download)(void *to, const void *array, size_t bytes);  // waits for all kernels first

    /* Seconds that the kernels take which work(arg) starts, by the device's own clock. */
    double (*seconds)(void (*work)(void *arg), void *arg);

    /* Bytes a second, read and written, of a kernel that copies, and float32 operations a second of
     * one that multiplies and adds, an fma being two. */
    double (*bandwidth)(void);
    double (*fma_peak)(void);

    /* x[0 … 7], and what the shuffles of a row's maximum make of it: after[3][8]. */
    void (*row_max)(const float *x, float after[3][8]);
};

extern const struct device device_cpu, device_instrumented, device_gpu;

#ifdef __cplusplus
}
#endif
#endif
