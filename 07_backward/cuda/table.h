/*
 * Chapter 07's kernels as the program sees them: what there is, where it runs, and what it can do.
 */
#ifndef BACKWARD_CUDA_TABLE_H
#define BACKWARD_CUDA_TABLE_H

#include "../../06_flash_tiled_cuda/kernels/device.h"
#include "../chapter.h"
#include "../kernels/kernels.h"
#include "options.h"

enum cuda_kernel_name {
    CUDA_STANDARD,
    CUDA_RECOMPUTE,
    CUDA_DETERMINISTIC,
    CUDA_MMA_SPLIT,
    CUDA_MMA,
    CUDA_WGMMA,
    CUDA_BULK,
    CUDA_ORDERED,
    CUDA_COMPLETE,
    CUDA_KERNELS
};

struct cuda_kernel {
    const char *name, *idea;
    void (*predict)(const struct attention *p, struct accesses *a);
    const char *formula;  // of its accesses, short
    bool whole;           // it stores P and dS whole
    bool atomics;         // it adds atomically, in whatever order
    bool options;         // it knows every option; else causal order
    bool tensor;          // it is for inputs of 16 bits alone, d = 64 and 128
    bool turns;           // its blocks take turns, and have counters for that
    bool hopper;          // on a GPU it needs compute capability 9.0; and it knows grouped heads
};
extern const struct cuda_kernel cuda_kernels[CUDA_KERNELS];

/* Chapter 06's device, its memory and its clock, with this chapter's kernels on it. */
struct backward_device {
    const struct device *machine;
    kernel_launcher *forward;  // chapter 06's complete
    backward_launcher *launch[CUDA_KERNELS];
};
extern const struct backward_device backward_cpu, backward_watched;

/*
 * The device that --device asks for. Where that is a GPU, and there is none, it says so and ends the program
 * with EXIT_SKIPPED.
 */
const struct backward_device *backward_device_choose(const struct options *options);

/*
 * What the kernel lacks on this device, in a text that is good until the next call, or NULL: on another GPU it is not
 * asked for.
 */
const char *cuda_kernel_lacks_device(const struct cuda_kernel *kernel,
                                     const struct backward_device *device);

/*
 * The device for a kernel, `chosen` if that can run it; else the CPU, but where a GPU is demanded the program ends with
 * EXIT_SKIPPED.
 */
const struct backward_device *backward_device_for(const struct cuda_kernel *kernel,
                                                  const struct backward_device *chosen,
                                                  const struct options *options);

/* "on the CPU, standing in for a GPU", or the GPU's name; the text is good until the next call. */
const char *backward_device_text(const struct backward_device *device);

/*
 * What the kernel lacks for this problem, as it is written on the command line, in a text that is good until
 * the next call; or NULL.
 */
const char *cuda_kernel_lacks(const struct cuda_kernel *kernel, const struct attention *p);

/* Are there numbers of this type among those that the kernel's arithmetic is for? */
bool cuda_kernel_knows_type(const struct cuda_kernel *kernel, enum dtype type);

/* The formula of its accesses, short, for a problem's type and d. */
const char *cuda_kernel_formula(const struct cuda_kernel *kernel, const struct attention *p);

/* The nearest earlier kernel that can do the problem; NULL: none. */
const struct cuda_kernel *cuda_kernel_before(const struct cuda_kernel *kernel,
                                             const struct attention *p);

/* The predictions of their accesses to global memory. */
void predict_cuda_standard(const struct attention *p, struct accesses *a);
void predict_cuda_recompute(const struct attention *p, struct accesses *a);
void predict_cuda_deterministic(const struct attention *p, struct accesses *a);
void predict_cuda_mma_split(const struct attention *p, struct accesses *a);
void predict_cuda_mma(const struct attention *p, struct accesses *a);
void predict_cuda_boxes(const struct attention *p, struct accesses *a);
void predict_cuda_complete(const struct attention *p, struct accesses *a);

#endif
