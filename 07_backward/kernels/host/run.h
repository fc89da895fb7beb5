#ifndef BACKWARD_CUDA_RUN_H
#define BACKWARD_CUDA_RUN_H

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "07_backward/kernels/kernels.h"
#include "07_backward/program.h"

struct runs {
    backward_launcher *on[BUILDS];
};

/* by name, or NULL */
extern const struct step_table cuda_table;
const struct step *cuda_named(const char *name);
extern const struct chapter cuda_chapter;

void predict_cuda_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_deterministic(const struct attention *p, struct tile_size size,
                                struct accesses *a);
void predict_cuda_mma_split(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_mma(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_boxes(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_store(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_cuda_complete(const struct attention *p, struct tile_size size, struct accesses *a);

struct on_device {
    const struct device *device;
    const struct step *kernel;
    struct attention p;
    struct backward_arrays arrays;
    cudaStream_t stream;  // NULL: the default stream
};
struct on_device cuda_load(const struct step *kernel, const struct device *device,
                           const struct attention *p, struct tensors x);
void cuda_launch(const struct on_device *loaded);
void cuda_download(const struct on_device *loaded, struct tensors x);
void cuda_unload(struct on_device *loaded);

/* All of it, on the current device. */
void cuda_step(const struct step *kernel, const struct attention *p, struct tensors x);

/* Into poisoned memory. */
struct result cuda_run(const struct step *kernel, const struct device *device,
                       const struct lab *lab);

/* Chapter 06's complete, which must support lab's d and type: fills lab->x.O and .lse. */
void cuda_forward(const struct device *device, const struct lab *lab);

/* Elements that differ between runs in random orders, and by how much. */
struct cuda_spread {
    size_t elements[GRADIENTS];
    double most[GRADIENTS];
};
struct cuda_spread cuda_run_again(const struct step *kernel, const struct device *device,
                                  const struct lab *lab, size_t runs);

#endif
