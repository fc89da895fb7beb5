/*
 * A block and its threads, on one OS thread. Threads take turns: one runs until it waits at a
 * barrier or in a warp function, then the next runnable one.
 */
#ifndef COMMON_CUDA_BLOCK_H
#define COMMON_CUDA_BLOCK_H

#include "common/cuda/emulator/barrier.h"
#include "common/cuda/emulator/copies.h"
#include "common/cuda/emulator/fiber.h"
#include "common/cuda/emulator/shared.h"
#include "common/cuda/emulator/vectors.h"

#include <cstddef>
#include <vector>

namespace cpu
{

struct launch;
struct units;

enum { WARP = 32, MAX_THREADS = 1024 };

enum thread_state {
    READY,
    AT_BARRIER,
    IN_WARP,
    AT_PHASE,      // Hopper: waits for an mbarrier's phase …
    AT_NAMED,      // … at a named barrier …
    IN_WARPGROUP,  // … for the threads of its warpgroup …
    AT_PRODUCTS,   // … for their products …
    AT_REGISTERS,  // … for registers
    LEFT
};

struct thread {
    uint3 thread_index, block_index;
    dim3 block_size, grid_size;
    unsigned number, lane;  // in its block, in its warp
    thread_state state;
    const char *waits_in;  // function …
    site at;
    unsigned mask;  // … for these lanes
    void *operands;
    const void *waits_for;           // mbarrier or named barrier
    const void *asked;               // where it issued a product
    const void *access;              // its last recorded access
    std::vector<async_copy> copies;  // pending …
    unsigned copy_group;             // … and the number of committed groups
    fiber own;
};

struct block {
    const struct launch *launch;
    uint3 index;
    std::vector<thread> threads;
    std::vector<unsigned> waiting;  // per warp: waiting lanes
    std::vector<unsigned> order;    // of turns (schedule.cpp)
    size_t turn;                    // index of the next in `order`
    unsigned random;
    size_t left;
    size_t turns;  // taken, in all blocks
    barrier_state barrier;
    shared_memory shared;
    struct units *units;  // Hopper's; may be NULL
    stacks room;
    fiber outside;

    explicit block(size_t count);
    ~block();
    block(const block &) = delete;
    block &operator=(const block &) = delete;
};

/* NULL outside kernels. */
extern __thread thread *self;
extern __thread block *own;

/* Reuses a block returned by block_give, if possible. The caller gives it back. */
block *block_take(size_t threads);
void block_give(block *b);

void block_run(block *b, const struct launch *l, uint3 index);

/* Suspends the running thread until its state is READY again. */
void wait();

/* NULL if none can run (schedule.cpp). */
thread *next_thread(block *b);
void schedule_start(block *b);

}  // namespace cpu

#endif
