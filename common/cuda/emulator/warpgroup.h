/*
 * Warpgroups: four warps whose threads ask for a product together. The tensor cores make it while the threads go on.
 */
#ifndef COMMON_CUDA_WARPGROUP_H
#define COMMON_CUDA_WARPGROUP_H

#include "common/cuda/emulator/block.h"
#include "common/cuda/hopper.h"

#include <vector>

namespace cpu
{

enum { GROUP = 128, PRODUCT_M = 64, PRODUCT_K = 16, PRODUCT_N = 256 };

/* A product that is under way: all threads' registers, and the first's description of the rest. */
struct product {
    product_call call;
    const unsigned *a[GROUP];
    unsigned a_then[GROUP][4];  // what was in these when it was issued
    float *d[GROUP];
    unsigned group;
    unsigned job;  // in the timeline
    site at;
    const void *instruction;
};

/* The registers that products under way will write, and what will be there. NaN is there meanwhile. */
struct accumulators {
    float *d[GROUP];
    unsigned count;
    site at;
    std::vector<float> values;  // count of each thread
};

struct warpgroup {
    unsigned waiting;  // threads of it that wait for the others
    void *brought[GROUP];
    std::vector<product> products;
    std::vector<accumulators> held;
    unsigned committed;
    bool fenced;
    unsigned registers;  // each thread's; 0: as many as the launch gave
};

/* The running thread calls `name`, and this is its warpgroup; outside one the program ends. */
warpgroup *group_called(const char *name, site at);
thread *group_first(const warpgroup *g);

/* Waits for the 128 threads; the last calls `together`. */
void group_meet(warpgroup *g, void *operands, void (*together)(warpgroup *g));

/* A product's matrices as numbers (matrices.cpp): in shared memory, or A in the threads' registers. */
void matrix_read(const product *p, uint64_t matrix, bool columns, size_t rows,
                 float (*x)[PRODUCT_K]);
void fragments_read(const product *p, float (*A)[PRODUCT_K]);

/* In an instrumented kernel: each warp reads its rows of A, and B. */
void matrices_instrumented(const product *p);

}  // namespace cpu

#endif
