/*
 * A block and its threads, on one OS thread.
 *
 * Threads of a block take turns: one runs until it waits at a barrier or in a warp function, then
 * the next runnable one. After all have left, the OS thread takes another block of the grid.
 */
#ifndef COMMON_CUDA_BLOCK_H
#define COMMON_CUDA_BLOCK_H

#include "common/cuda/emulator/barrier.h"
#include "common/cuda/emulator/copies.h"
#include "common/cuda/emulator/fiber.h"
#include "common/cuda/emulator/shared.h"
#include "common/cuda/emulator/vectors.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace cpu
{

struct launch;
struct units;

enum { WARP = 32, MOST_THREADS = 1024 };

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
    uint3 thread_index, block_index;  // threadIdx, blockIdx
    dim3 block_size, grid_size;       // blockDim, gridDim
    unsigned number, lane;            // in its block, in its warp
    thread_state state;
    const char *waits_in;            // the function that it waits in …
    site at;                         // … called here …
    unsigned mask;                   // … for these lanes
    void *operands;                  // its arguments for them
    const void *waits_for;           // the mbarrier or named barrier that it waits at
    const void *asked;               // where it issued a product
    const void *access;              // where its last access was, of those the emulator records
    std::vector<async_copy> copies;  // not yet waited for …
    unsigned copy_group;             // … and how many groups of them are committed
    fiber own;
};

struct block {
    const struct launch *launch;
    uint3 index;
    std::vector<thread> threads;
    std::vector<unsigned> waiting;  // per warp: lanes that wait in a warp function
    std::vector<unsigned> order;    // of the threads' turns (schedule.cpp) …
    size_t turn;                    // … and the index of the next
    unsigned random;
    size_t left;   // threads that have left
    size_t turns;  // taken so far, in all blocks
    barrier_state barrier;
    shared_memory shared;
    std::unique_ptr<struct units> units;  // Hopper's; NULL if unused
    stacks room;
    fiber outside;  // the OS thread itself

    explicit block(size_t count);
    ~block();
    block(const block &) = delete;
    block &operator=(const block &) = delete;
};

/* The running thread and its block; NULL outside kernels. */
extern __thread thread *self;
extern __thread block *own;

/* A block of `threads` threads, reused if possible; block_give returns it. */
std::unique_ptr<block> block_take(size_t threads);
void block_give(std::unique_ptr<block> b);

/* Runs `b` as the block at `index` of a launch, to its end. */
void block_run(block *b, const struct launch *l, uint3 index);

/* Suspends the running thread until its state is READY again. */
void wait();

/* The next runnable thread, NULL if there is none (schedule.cpp). */
thread *next_thread(block *b);
void schedule_start(block *b);

}  // namespace cpu

#endif
