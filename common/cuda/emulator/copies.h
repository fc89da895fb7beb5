/*
 * Asynchronous copies from global to shared memory. A GPU may perform one at any time before the
 * wait for its group. We do it at the wait, and fill the target with NaN until then, so a kernel
 * that does not wait, or overwrites data still in use, is wrong in every run.
 */
#ifndef COMMON_CUDA_COPIES_H
#define COMMON_CUDA_COPIES_H

#include "common/cuda/emulator/site.h"

#include <cstddef>

namespace cpu
{

struct async_copy {
    char *to;
    size_t bytes;
    char data[16];
    unsigned group;  // its index among the thread's groups
    unsigned job;
    site at;
    const void *instruction;
};

/* An error if the running thread leaves with pending copies. */
void copy_end();

}  // namespace cpu

#endif
