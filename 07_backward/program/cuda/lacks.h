/*
 * What chapter 07's kernels can do, and what they lack for a problem.
 */
#ifndef BACKWARD_CUDA_LACKS_H
#define BACKWARD_CUDA_LACKS_H

#include "07_backward/program/cuda/device_choice.h"

/*
 * What the kernel lacks for this problem, as it is written on the command line, in a text that is good until
 * the next call; or NULL.
 */
const char *cuda_kernel_lacks(const struct cuda_kernel *kernel, const struct attention *p);

/* Are there numbers of this type among those that the kernel's arithmetic is for? */
bool cuda_kernel_knows_type(const struct cuda_kernel *kernel, enum dtype type);

/* The same of the problem and the device; and --leave-out may leave it out. */
const char *cuda_kernel_lacks_on(const struct cuda_kernel *kernel, const struct attention *p,
                                 const struct backward_device *device);

/* The nearest earlier kernel that can do the problem on the device; NULL: none. */
const struct cuda_kernel *cuda_kernel_before(const struct cuda_kernel *kernel,
                                             const struct attention *p,
                                             const struct backward_device *device);

#endif
