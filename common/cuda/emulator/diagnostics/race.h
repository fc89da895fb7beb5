/*
 * Data races: two unordered accesses to the same memory by different threads, one of them a write.
 * We find them even if they did no harm in this run.
 *
 * For every two bytes we keep the last writes and reads with their clocks. Each thread has a clock,
 * which advances when threads synchronise. A barrier orders everything in the block before it;
 * __syncwarp orders its lanes' accesses, by exchanging clocks. Blocks are never ordered.
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
 * The warpgroup whose first thread is `first` has waited for a product: the reads that each warp's
 * first lane recorded for the tensor cores are over for all 128 threads.
 */
void race_product(unsigned first);

/*
 * A vector clock. An arriving thread merges its clock into it; a thread that has waited takes it
 * over. Empty without instrumentation.
 */
using race_clock = std::vector<uint32_t>;
void race_release(race_clock *into);
void race_acquire(const race_clock *from);
void race_join(race_clock *into, const race_clock &more);

/* Reports a race with an earlier access, if any, and records this one. */
void race_access(const memory_access *a);

/* Frees an allocation's records. */
void race_forget(void *shadow);

}  // namespace cpu

#endif
