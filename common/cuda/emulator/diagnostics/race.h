/*
 * Data races: two accesses to the same memory by different threads, one of them a write, that
 * nothing orders. They are found whether or not they did harm in this run.
 *
 * Of every two bytes it is remembered who wrote them last, who has read them since, and when: each
 * thread has a clock, which goes on when it meets others. A barrier orders all that a block did
 * before it; __syncwarp orders what the lanes did that met there, so that each knows of the others'
 * clocks. An access that the running thread does not know of is not ordered before its own.
 * Blocks never meet.
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

/* A warpgroup, whose first thread is `first`, has waited for a product: what each warp's first lane has read for the tensor
   cores, all 128 threads know to be over. */
void race_product(unsigned first);

/*
 * What somebody knew of the threads' clocks. A thread that arrives somewhere leaves there what it knows, and who has waited
 * for that takes it; empty where nothing is instrumented.
 */
using race_clock = std::vector<uint32_t>;
void race_release(race_clock *into);
void race_acquire(const race_clock *from);
void race_join(race_clock *into, const race_clock &more);

/* Reports the access if it races with one before it, and remembers it. */
void race_access(const memory_access *a);

/* Frees what is remembered of an allocation. */
void race_forget(void *shadow);

}  // namespace cpu

#endif
