/*
 * Blocks take turns, by a counter in global memory that starts at 0.
 *
 *     turn_wait(turn, n)   waits until *turn == n; acquires the writes of earlier turns
 *     turn_next(turn)      increments *turn; releases this thread's writes
 *
 * Blocks start in any order, and running ones may keep others from starting. So a block may wait
 * only for blocks that started earlier; it draws its number when it starts.
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
