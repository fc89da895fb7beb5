/*
 * Watched kernels: every access to memory is reported.
 *
 * The compiler's -fsanitize=thread puts a call before each load and store. common/measure/watch.c has the functions that are
 * called, and hands on what threads of the emulator do to watch.cpp. It checks the address, and passes the access on to
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

/* A block's shared memory as one range of offsets: its variables with gaps, its dynamic part. */
enum { SHARED_OFFSETS = SHARED_ROOM + SHARED_MOST };

/* One access of the running thread, to memory that it may touch. */
struct memory_access {
    const char *p;
    size_t bytes;
    bool writes, atomic;
    const void *instruction;
    allocation *global;  // NULL: it is shared memory
    size_t offset;       // from the beginning of the allocation, or of the block's shared memory
};

/* How many elements of its array an access is, of 4-byte words in shared memory. */
size_t elements_of(const memory_access *a);

/*
 * The running thread is about to touch this memory; an `aligned` access must be at a multiple of its
 * size. Nothing is done if the thread is the host, or its kernel is not instrumented.
 */
void see(const void *p, size_t bytes, bool writes, bool atomic, bool aligned,
         const void *instruction);

/* What the emulator tells: a launch begins (NULL: it has ended) or a block, a barrier opens, lanes have met. */
void watch_launch(const launch *l);
void watch_block();
void watch_barrier();
void watch_warp(unsigned mask);

/* An atomic access, of any build; the running thread remembers where. */
void watch_atomic(const void *p, size_t bytes, const void *instruction);

/* The running thread issues a copy to shared memory, which lands there later. */
void watch_copy(const void *to, size_t bytes, bool lands, const void *instruction);

/*
 * The same of units that work beside the threads (units.h), for which one asked: an access, and a copy of any size. What a
 * thread has written in shared memory they may read after its fence only.
 */
void watch_unit(const void *p, size_t bytes, bool writes, const void *instruction);
void watch_unit_copy(const void *to, size_t bytes, bool lands, const void *instruction);
void watch_fence();

/* An array has got a name. */
void watch_named(const void *array, const char *name);

}  // namespace cpu

#endif
