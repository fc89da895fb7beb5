/* __syncthreads: no thread of a block passes before all have arrived. */
#ifndef COMMON_CUDA_BARRIER_H
#define COMMON_CUDA_BARRIER_H

#include "common/cuda/emulator/site.h"

#include <cstddef>

namespace cpu
{

struct thread;

struct barrier_state {
    size_t arrived;
    const thread *first;  // to arrive
    int votes, outcome;   // true votes so far, and at the last barrier
};

/* Returns how many threads of the block passed a true `vote`. */
int barrier(const char *name, site at, bool vote);

}  // namespace cpu

#endif
