#ifndef BACKWARD_CUDA_RUN_H
#define BACKWARD_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "07_backward/kernels/kernels.h"
#include "07_backward/steps/forward.h"

struct runs {
    backward_launcher *on[BUILDS];
};

/* by name, or NULL */
extern const struct step_table cuda_table;
const struct step *cuda_named(const char *name);

void predict_cuda_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_deterministic(const struct attention *p, struct tile_size size,
                                struct accesses *a);
void predict_cuda_mma_split(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_mma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_store(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_complete(const struct attention *p, struct tile_size size, struct accesses *a);

const char *cuda_kernel_formula(const struct step *kernel, const struct attention *p);

struct on_device {
    const struct device *device;
    const struct step *kernel;
    struct attention p;
    struct backward_arrays arrays;
    cudaStream_t stream;  // NULL: the default stream
};
struct on_device cuda_load(const struct step *kernel, const struct device *device,
                           const struct lab *lab);
void cuda_launch(const struct on_device *loaded);
void cuda_unload(struct on_device *loaded);

struct result cuda_download(const struct on_device *loaded);

/* Into poisoned memory. */
struct result cuda_run(const struct step *kernel, const struct device *device,
                       const struct lab *lab);

/* Chapter 06's complete, which must support lab's d and type: fills lab->x.O and .lse. */
void cuda_forward(const struct device *device, const struct lab *lab);

bool cuda_can_be_counted(const struct attention *p);

/* Discards the output. */
struct count cuda_count(const struct step *kernel, const struct lab *lab);

/* The nearest earlier one that supports the problem, or NULL. */
const struct step *cuda_kernel_before(const struct step *kernel, const struct attention *p,
                                      const struct device *device);

struct cuda_previous {
    const char *name;
    struct result result;
};

void cuda_previous_keep(struct cuda_previous *previous, const char *name, struct result *r);

struct cuda_previous cuda_previous_run(const struct step *kernel, const struct device *device,
                                       const struct lab *lab);
struct result complete_on_the_cpu(const struct lab *lab);

/* `right` covers the reference, the previous kernel and complete in C; `errors` the first two. */
struct cuda_verdict {
    struct attention_errors errors;
    const char *before;
    double from_complete;
    bool right;
};
struct cuda_verdict cuda_check(const struct gradient_check *check,
                               const struct cuda_previous *previous, const struct result *on_cpu,
                               const struct result *r, bool tell);

void cuda_report_types(enum dtype type);

/*
 * Elements that differ between runs with threads and blocks in random order, and by how
 * much.
 */
struct cuda_spread {
    size_t elements[GRADIENTS];
    double most[GRADIENTS];
};
struct cuda_spread cuda_run_again(const struct step *kernel, const struct device *device,
                                  const struct lab *lab, size_t runs);

#endif
