/*
 * Asynchronous copies from global to shared memory.
 *
 * A GPU may perform one at any time between cp.async and the wait for its group. We perform it as
 * late as possible, at the wait, and fill the target with NaN until then. So a kernel that does not
 * wait, or that overwrites data still in use, is wrong in every run.
 */
#ifndef COMMON_CUDA_COPIES_H
#define COMMON_CUDA_COPIES_H

#include "common/cuda/emulator/site.h"

#include <cstddef>

namespace cpu
{

/* A pending copy. */
struct async_copy {
    char *to;
    size_t bytes;
    char data[16];   // the bytes to store
    unsigned group;  // its index among the thread's groups
    unsigned job;    // in the timeline
    site at;
    const void *instruction;
};

/* The running thread leaves the kernel: an error if copies are pending. */
void copy_end();

}  // namespace cpu

#endif
