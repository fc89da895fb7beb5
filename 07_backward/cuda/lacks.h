/*
 * What chapter 07's kernels can do, and what they lack for a problem.
 */
#ifndef BACKWARD_CUDA_LACKS_H
#define BACKWARD_CUDA_LACKS_H

#include "table.h"

/*
 * What the kernel lacks for this problem, as it is written on the command line, in a text that is good until
 * the next call; or NULL.
 */
const char *cuda_kernel_lacks(const struct cuda_kernel *kernel, const struct attention *p);

/* Are there numbers of this type among those that the kernel's arithmetic is for? */
bool cuda_kernel_knows_type(const struct cuda_kernel *kernel, enum dtype type);

/* The nearest earlier kernel that can do the problem; NULL: none. */
const struct cuda_kernel *cuda_kernel_before(const struct cuda_kernel *kernel,
                                             const struct attention *p);

#endif
