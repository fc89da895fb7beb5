/*
 * Instrumented kernels report every memory access. The compiler's -fsanitize=thread inserts a call
 * before each load and store; common/measure/watch.c defines the called functions and forwards
 * accesses by the emulator's threads to watch.cpp. It checks the address, then passes the access to
 * the race detector, the profile, and the access counter.
 */
#ifndef COMMON_CUDA_WATCH_H
#define COMMON_CUDA_WATCH_H

#include "common/cuda/emulator/shared.h"

#include <cstddef>

namespace cpu
{

struct allocation;
struct launch;

/* A block's shared memory as one range of offsets: variables with gaps, then the dynamic part. */
enum { SHARED_OFFSETS = SHARED_ROOM + SHARED_MOST };

/* A valid access of the running thread. */
struct memory_access {
    const char *p;
    size_t bytes;
    bool writes, atomic;
    const void *instruction;
    allocation *global;  // NULL: shared memory
    size_t offset;       // in the allocation, or in the block's shared memory
};

/* The number of elements accessed; of 4-byte words in shared memory. */
size_t elements_of(const memory_access *a);

/*
 * The running thread is about to access this memory, at a multiple of its size if `aligned`. Does
 * nothing for the host and for kernels without instrumentation.
 */
void see(const void *p, size_t bytes, bool writes, bool atomic, bool aligned,
         const void *instruction);

/* Events: a launch begins (NULL: has ended), a block begins, a barrier opens, lanes have met. */
void watch_launch(const launch *l);
void watch_block();
void watch_barrier();
void watch_warp(unsigned mask);

/* An atomic access, in any build; records the instruction for reports. */
void watch_atomic(const void *p, size_t bytes, const void *instruction);

/* The running thread issues a copy to shared memory; or, with `lands`, it completes. */
void watch_copy(const void *to, size_t bytes, bool lands, const void *instruction);

/*
 * The same for accesses and copies of units (units.h). They may read a thread's writes to shared
 * memory only after its fence.
 */
void watch_unit(const void *p, size_t bytes, bool writes, const void *instruction);
void watch_unit_copy(const void *to, size_t bytes, bool lands, const void *instruction);
void watch_fence();

/* An array was named. */
void watch_named(const void *array, const char *name);

}  // namespace cpu

#endif
