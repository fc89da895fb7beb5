/*
 * Chapter 07's kernels as the program sees them.
 */
#ifndef BACKWARD_CUDA_TABLE_H
#define BACKWARD_CUDA_TABLE_H

#include "07_backward/program/chapter.h"
#include "common/program/options.h"

#define STEP(constant, name, ...) DECLARE_LAUNCHERS(backward_launcher, backward_##name)
#include "07_backward/kernels/table.h"
#undef STEP

enum cuda_kernel_name {
#define STEP(constant, name, ...) constant,
#include "07_backward/kernels/table.h"
#undef STEP
    CUDA_KERNELS
};
extern const struct step cuda_kernels[CUDA_KERNELS];
extern const struct step_table cuda_table;

/* The kernel that the command line names, cuda_complete where it names none; NULL: there is no such. */
const struct step *cuda_kernel_wanted(const struct options *options);

/* The formula of its accesses, short, for a problem's type and d. */
const char *cuda_kernel_formula(const struct step *kernel, const struct attention *p);

/* The predictions of their accesses to global memory. */
void predict_cuda_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_deterministic(const struct attention *p, struct tile_size size,
                                struct accesses *a);
void predict_cuda_mma_split(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_mma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_store(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_complete(const struct attention *p, struct tile_size size, struct accesses *a);

#endif
