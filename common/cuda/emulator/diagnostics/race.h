/*
 * Data races: unordered accesses to the same memory by different threads, one of them a write;
 * found even if harmless in this run.
 *
 * Every two bytes record their last writes and reads with the threads' clocks. Clocks advance when
 * threads synchronise: a barrier orders everything in the block before it, __syncwarp its lanes'
 * accesses, by exchanging clocks. Blocks are never ordered.
 */
#ifndef COMMON_CUDA_RACE_H
#define COMMON_CUDA_RACE_H

#include <cstdint>
#include <vector>

namespace cpu
{

struct memory_access;

void race_launch();
void race_block();
void race_barrier();
void race_warp(unsigned mask);

/*
 * A warpgroup has waited for a product: the reads by each warp's first lane, recorded for the
 * tensor cores, are over for all 128 threads.
 */
void race_product(unsigned first);

/*
 * A vector clock: an arriving thread releases into it, a waiting thread acquires it. Empty without
 * instrumentation.
 */
using race_clock = std::vector<uint32_t>;
void race_release(race_clock *into);
void race_acquire(const race_clock *from);
void race_join(race_clock *into, const race_clock &more);

/* Reports a race with earlier accesses; records this one. */
void race_access(const memory_access *a);

void race_forget(void *shadow);

}  // namespace cpu

#endif
