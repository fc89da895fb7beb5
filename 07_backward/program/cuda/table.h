/*
 * Chapter 07's kernels as the program sees them.
 */
#ifndef BACKWARD_CUDA_TABLE_H
#define BACKWARD_CUDA_TABLE_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "07_backward/kernels/kernels.h"
#include "07_backward/program/chapter.h"

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

/* The kernel of this name, cuda_complete where nobody has named one; or NULL if there is no such. */
const struct cuda_kernel *cuda_kernel_named(const char *name);

/* The formula of its accesses, short, for a problem's type and d. */
const char *cuda_kernel_formula(const struct cuda_kernel *kernel, const struct attention *p);

/* The predictions of their accesses to global memory. */
void predict_cuda_standard(const struct attention *p, struct accesses *a);
void predict_cuda_recompute(const struct attention *p, struct accesses *a);
void predict_cuda_deterministic(const struct attention *p, struct accesses *a);
void predict_cuda_mma_split(const struct attention *p, struct accesses *a);
void predict_cuda_mma(const struct attention *p, struct accesses *a);
void predict_cuda_boxes(const struct attention *p, struct accesses *a);
void predict_cuda_complete(const struct attention *p, struct accesses *a);

#endif
