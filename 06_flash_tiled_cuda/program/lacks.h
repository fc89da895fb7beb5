/*
 * What a kernel can do, and what it lacks for a problem.
 */
#ifndef FLASH_TILED_CUDA_LACKS_H
#define FLASH_TILED_CUDA_LACKS_H

#include "06_flash_tiled_cuda/program/chapter.h"

/*
 * What the kernel lacks for this problem, as it is written on the command line, in a text that is good
 * until the next call; or NULL.
 */
const char *kernel_lacks(const struct kernel *kernel, const struct attention *p);

/* The same, and the device must be one that the kernel is for. */
const char *kernel_lacks_on(const struct kernel *kernel, const struct attention *p,
                            const struct device *device);

/* Are there numbers of this type among those that the kernel's arithmetic is for? */
bool kernel_knows_type(const struct kernel *kernel, enum dtype type);

#endif
