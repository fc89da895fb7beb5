/*
 * A block and its threads, as they run on one OS thread.
 *
 * Threads of a block take turns. One runs until it has to wait, at a barrier or in a function of
 * its warp, and then the next one that can run does. When all have left, the block is done, and the
 * OS thread takes another block of the grid.
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
    AT_PHASE,      // these are Hopper's: waits for an mbarrier's phase …
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
    void *operands;                  // what it brings to them
    const void *waits_for;           // the mbarrier or named barrier that it waits at
    const void *asked;               // where it issued a product
    const void *access;              // where its last access was, of those that the emulator sees
    std::vector<async_copy> copies;  // that it has not waited for …
    unsigned copy_group;             // … and how many groups of them it has committed
    fiber own;
};

struct block {
    const struct launch *launch;
    uint3 index;
    std::vector<thread> threads;
    std::vector<unsigned> waiting;  // of each warp: the lanes that wait in a warp's function
    std::vector<unsigned> order;    // in which threads take turns (schedule.cpp) …
    size_t turn;                    // … and whose turn is next
    unsigned random;
    size_t left;   // threads that have left
    size_t turns;  // that were taken, in all blocks
    barrier_state barrier;
    shared_memory shared;
    std::unique_ptr<struct units> units;  // of Hopper, if it has asked them for something
    stacks room;
    fiber outside;  // the OS thread itself

    explicit block(size_t count);
    ~block();
    block(const block &) = delete;
    block &operator=(const block &) = delete;
};

/* The thread that runs, and its block: none outside kernels. */
extern __thread thread *self;
extern __thread block *own;

/* A block of so many threads, an old one if there is one; and back with it. */
std::unique_ptr<block> block_take(size_t threads);
void block_give(std::unique_ptr<block> b);

/* Makes `b` the block at `index` of a launch, and runs it to its end. */
void block_run(block *b, const struct launch *l, uint3 index);

/* The thread that runs waits, its state says for what, until something makes it READY. */
void wait();

/* The next thread that can run, NULL if there is none (schedule.cpp). */
thread *next_thread(block *b);
void schedule_start(block *b);

}  // namespace cpu

#endif
