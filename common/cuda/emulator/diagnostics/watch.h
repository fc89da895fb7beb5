/*
 * Instrumented kernels: -fsanitize=thread inserts a call before each load and store;
 * common/measure/traffic.c defines these functions and forwards accesses of emulated threads to
 * watch.cpp. It checks the address, then calls race detector, profile and access counter.
 */
#ifndef COMMON_CUDA_WATCH_H
#define COMMON_CUDA_WATCH_H

#include "common/cuda/emulator/shared.h"

#include <cstddef>

namespace cpu
{

struct allocation;
struct launch;

/* Variables with gaps, then the dynamic part. */
enum { SHARED_OFFSETS = SHARED_ROOM + SHARED_MOST };

struct memory_access {
    const char *p;
    size_t bytes;
    bool writes, atomic;
    const void *instruction;
    allocation *global;  // NULL: shared memory
    size_t offset;       // in the allocation, or in shared memory
};

/* In shared memory, of 4-byte words. */
size_t elements_of(const memory_access *a);

/*
 * Before an access of the running thread, at a multiple of its size if `aligned`. No-op for the
 * host and without instrumentation.
 */
void see(const void *p, size_t bytes, bool writes, bool atomic, bool aligned,
         const void *instruction);

/* A launch (NULL: its end) or block begins, a barrier opens, lanes have met. */
void watch_launch(const launch *l);
void watch_block();
void watch_barrier();
void watch_warp(unsigned mask);

/* In any build; records the instruction for reports. */
void watch_atomic(const void *p, size_t bytes, const void *instruction);

/* A copy to shared memory is issued; or, with `lands`, completes. */
void watch_copy(const void *to, size_t bytes, bool lands, const void *instruction);

/*
 * The same for units (units.h), which may read a thread's writes to shared memory only after its
 * fence.
 */
void watch_unit(const void *p, size_t bytes, bool writes, const void *instruction);
void watch_unit_copy(const void *to, size_t bytes, bool lands, const void *instruction);
void watch_fence();

void watch_named(const void *array, const char *name);

}  // namespace cpu

#endif
