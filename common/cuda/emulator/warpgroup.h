/* Warpgroups: four warps that issue a product together, asynchronously. */
#ifndef COMMON_CUDA_WARPGROUP_H
#define COMMON_CUDA_WARPGROUP_H

#include "common/cuda/emulator/block.h"
#include "common/cuda/hopper.h"

#include <vector>

namespace cpu
{

enum { GROUP = 128, PRODUCT_M = 64, PRODUCT_K = 16, PRODUCT_N = 256 };

/* A pending product: all threads' registers, and the first thread's description. */
struct product {
    product_call call;
    const unsigned *a[GROUP];
    unsigned a_then[GROUP][4];  // values at issue
    float *d[GROUP];
    unsigned group;
    unsigned job;
    site at;
    const void *instruction;
};

/* Registers of pending products, which hold NaN, and their future values. */
struct accumulators {
    float *d[GROUP];
    unsigned count;
    site at;
    std::vector<float> values;  // `count` per thread
};

struct warpgroup {
    unsigned waiting;
    void *brought[GROUP];
    std::vector<product> products;
    std::vector<accumulators> held;
    unsigned committed;
    bool fenced;
    unsigned registers;  // per thread; 0: the launch's
};

/* Ends the program outside a warpgroup. */
warpgroup *group_called(const char *name, site at);
thread *group_first(const warpgroup *g);

/* The last of 128 threads calls `together`. */
void group_meet(warpgroup *g, void *operands, void (*together)(warpgroup *g));

/* A product's matrices as numbers (matrices.cpp). */
void matrix_read(const product *p, uint64_t matrix, bool columns, size_t rows,
                 float (*x)[PRODUCT_K]);
void fragments_read(const product *p, float (*A)[PRODUCT_K]);

/* Records the warps' reads of A and B. */
void matrices_instrumented(const product *p);

}  // namespace cpu

#endif
