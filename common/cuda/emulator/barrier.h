/*
 * __syncthreads: a place that no thread of a block passes before all of them have come to it.
 */
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
    int votes, outcome;   // true values brought so far, and to the barrier that was passed last
};

/* Waits for all threads of the block; returns how many of them came with a true `vote`. */
int barrier(const char *name, site at, bool vote);

}  // namespace cpu

#endif
