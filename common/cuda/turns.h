/*
 * Blocks that take turns, by a counter in global memory, which a host has set to 0.
 *
 *     turn_wait(turn, n)   waits until it is n's turn: *turn == n. What those before have done is seen from here on
 *     turn_next(turn)      ends this turn: *turn is one more. Who waits sees what this thread has done until here
 *
 * Blocks wait for one another here. A GPU promises no order in which they begin, and those that have begun may keep others
 * from it. So a block may wait for one only that has begun before: it takes its number from a counter when it begins.
 */
#ifndef COMMON_CUDA_TURNS_H
#define COMMON_CUDA_TURNS_H

#include "common/cuda/device.h"

#ifdef __CUDACC__

__device__ static inline void turn_wait(const unsigned *turn, unsigned number)
{
    unsigned now;
    do
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(turn) : "memory");
    while (now != number);
}

__device__ static inline void turn_next(unsigned *turn)
{
    asm volatile("red.release.gpu.add.u32 [%0], %1;" : : "l"(turn), "r"(1) : "memory");
}

#else

namespace cpu
{
void turn_await(const unsigned *turn, unsigned number, site at);
void turn_over(unsigned *turn, site at);
}  // namespace cpu

inline namespace CUDA_BUILD
{
static inline void turn_wait(const unsigned *turn, unsigned number, CUDA_SITE)
{
    cpu::turn_await(turn, number, { file, line });
}

static inline void turn_next(unsigned *turn, CUDA_SITE)
{
    cpu::turn_over(turn, { file, line });
}
}  // namespace CUDA_BUILD

#endif
#endif
