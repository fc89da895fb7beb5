/*
 * A problem in a device's memory, the kernels that are started on it, and what comes of them.
 */
#ifndef FLASH_TILED_CUDA_ON_DEVICE_H
#define FLASH_TILED_CUDA_ON_DEVICE_H

#include "06_flash_tiled_cuda/program/chapter.h"

/* A problem in a device's memory, with all that the kernel needs there, O and lse poisoned. kernel_launch starts it. */
struct on_device {
    const struct device *device;
    const struct step *kernel;
    struct attention p;
    struct device_arrays arrays;
    cudaStream_t stream;  // on which it is started; NULL: the default one
};
struct on_device kernel_load(const struct step *kernel, const struct device *device,
                             const struct attention_input *input);

/* The same for several kernels, one of which kernel_take makes the one that is started. */
struct on_device kernel_load_for(const struct step *const *some, size_t count,
                                 const struct device *device, const struct attention_input *input);
void kernel_take(struct on_device *loaded, const struct step *kernel,
                 const struct attention_input *input);
void kernel_launch(const struct on_device *loaded);
void kernel_unload(struct on_device *loaded);

/* O as it is now, as float32 whatever the kernel writes; what it has not written is poison. */
void kernel_output(const struct on_device *loaded, float *O);

/* How many of its blocks start: of a kernel whose blocks stay, no more than the device has multiprocessors. */
size_t kernel_blocks(const struct step *kernel, struct kernel_shape shape,
                     const struct device *device);

/* Is there room in a block's shared memory for the tile, with two stages of K and V? */
bool device_holds(const struct device *device, const struct kernel_tile *tile);

/* Tile number n in the order in which blocks that stay take them: its head, and its first query. False: there is none. */
bool kernel_takes(const struct attention *p, size_t n, size_t *head, size_t *i0);

#endif
