/*
 * The machine that kernels run on: its memory, and what it can do. Implemented in CUDA sources,
 * once per build of them: for the CPU, for the CPU with instrumented accesses, and for a GPU.
 */
#ifndef COMMON_LAB_DEVICE_H
#define COMMON_LAB_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's. NULL is the default stream. */
typedef struct CUstream_st *cudaStream_t;

/*
 * A .cu file is compiled three times, and a launcher has three names: fa2_cpu, fa2_instrumented and
 * fa2_gpu.
 */
enum build { BUILD_CPU, BUILD_INSTRUMENTED, BUILD_GPU, BUILDS };

/* An initializer with all three launchers, and their declaration. */
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

struct device_facts {
    char name[100];
    int processors;  // streaming multiprocessors
    int warp, threads_per_block, threads_per_processor, registers_per_processor;
    size_t shared_per_block, shared_per_processor, L2, memory;  // bytes
    size_t shared_at_most;  // per block, if a kernel requests it
    int major, minor;       // compute capability; 0 for the CPU
};

struct device {
    const char *name;  // "cpu", "gpu"
    enum build build;  // its launchers

    const char *(*why_not)(void);  // the runtime's reason if there is no such machine; else NULL
    void (*facts)(struct device_facts *facts);

    /* Exits if out of memory. Reports and the access counter use `name`, unless NULL. */
    void *(*allocate)(size_t bytes, const char *name);
    void (*release)(void *array);
    void (*upload)(void *array, const void *from, size_t bytes);
    void (*download)(void *to, const void *array, size_t bytes);  // waits for all kernels first

    /* Seconds, by the device's clock, of the kernels that work(arg) starts. */
    double (*seconds)(void (*work)(void *arg), void *arg);

    /*
     * Bytes per second, read and written, of a copy kernel; float32 operations per second, counting
     * an fma as two.
     */
    double (*bandwidth)(void);
    double (*fma_peak)(void);

    /* x[0 … 7] after each shuffle of a row's maximum: after[3][8]. */
    void (*row_max)(const float *x, float after[3][8]);
};

extern const struct device device_cpu, device_instrumented, device_gpu;

/*
 * Sets the device that steps run kernels on, and their stream. NULL is the CPU, and the default
 * stream.
 */
void device_use(const struct device *device, cudaStream_t stream);
const struct device *device_current(void);
cudaStream_t device_stream(void);

/* "on the CPU, standing in for a GPU", or the GPU's name; valid until the next call. */
const char *device_text(const struct device *device);

/* The number of blocks launched; for persistent blocks, at most one per multiprocessor. */
struct step;
size_t step_blocks(const struct step *kernel, size_t blocks, const struct device *device);

#ifdef __cplusplus
}
#endif
#endif
