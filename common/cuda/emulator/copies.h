/*
 * Asynchronous copies from global to shared memory.
 *
 * A GPU may carry one out at any time between cp.async and the wait for its group. Here it comes as
 * late as that allows, when its thread waits, and until then NaN stands in its place. So a kernel that
 * does not wait, or that overwrites what others still read, is wrong in every run.
 */
#ifndef COMMON_CUDA_COPIES_H
#define COMMON_CUDA_COPIES_H

#include "common/cuda/emulator/site.h"

#include <cstddef>

namespace cpu
{

/* A copy that is under way. */
struct async_copy {
    char *to;
    size_t bytes;
    char data[16];   // what will be there
    unsigned group;  // its number among the groups of its thread
    unsigned job;    // in the timeline
    site at;
    const void *instruction;
};

/* The running thread leaves the kernel: it has waited for all its copies. */
void copy_end();

}  // namespace cpu

#endif
