/*
 * Chapter 06 as a program: its table of kernels, and what one kernel did when it was counted.
 */
#ifndef FLASH_TILED_CUDA_CHAPTER_H
#define FLASH_TILED_CUDA_CHAPTER_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "common/measure/accesses.h"
#include "common/problem/attention_input.h"
#include "common/program/report.h"

#include <stdbool.h>

/* A tile that a kernel on tensor cores is compiled for, and of how many threads a block then is. */
struct tile {
    size_t d, Br, Bc, threads;
};

/* Its shared memory in bytes: Q, and two stages of K and V. */
size_t tile_bytes(const struct tile *tile);

/* How a kernel is started, and the queries and keys of a tile. */
struct shape {
    size_t blocks, threads, Br, Bc;
};

struct kernel {
    const char *name, *idea;
    struct shape (*shape)(const struct attention *p);
    void (*predict)(const struct attention *p, struct shape shape, struct accesses *a);
    const char *formula;  // of its accesses, short
    bool scores;          // it stores S and P …
    bool statistics;      // … or m and l in global memory
    bool options;         // it knows every option and every d to 128; else causal order and five d
    bool tensor;          // it is for bf16 and f16, d = 64 and 128; else for float32
    bool stays;           // its blocks are as many as multiprocessors, and take tiles of queries
    bool hopper;          // on a GPU it needs compute capability 9.0
    const struct tile
        *tiles;  // for these types it has several, from which --br and --bc choose; d = 0 ends them
};

enum kernel_name {
    NAIVE,
    FA1,
    FA2,
    MMA,
    SWIZZLE,
    ASYNC,
    EXP2,
    SKIP,
    RESCALE,
    BUDGET,
    WGMMA,
    ROLES,
    OVERLAP,
    PINGPONG,
    PERSISTENT,
    COMPLETE,
    KERNELS
};
extern const struct kernel kernels[KERNELS];

/*
 * The tile of so many queries and keys, 0 being any, that the kernel is compiled for with the problem's d and type;
 * NULL: there is none.
 */
const struct tile *kernel_tile(const struct kernel *kernel, const struct attention *p, size_t Br,
                               size_t Bc);

/*
 * How the kernel is started for an input, with the tile that this asks for if the kernel has it, else with its own.
 */
struct shape kernel_shape_of(const struct kernel *kernel, const struct attention_input *input);

/* What a counted run of a kernel did. */
struct count {
    struct accesses accesses;
    size_t total, pairs;  // accesses in all; pairs of a query and a key that it sees
    size_t extra;         // bytes stored whole besides the inputs and outputs
    bool as_predicted;
};

/* Is the problem small enough for a run on the CPU with every access watched? */
bool can_be_counted(const struct attention *p);

/* Runs the kernel, every access watched, with its output thrown away. */
struct count count_kernel(const struct kernel *kernel, const struct attention_input *input);

void predict_naive(const struct attention *p, struct shape shape, struct accesses *a);
void predict_fa1(const struct attention *p, struct shape shape, struct accesses *a);
void predict_fa2(const struct attention *p, struct shape shape, struct accesses *a);
void predict_tensor(const struct attention *p, struct shape shape, struct accesses *a);
void predict_boxes(const struct attention *p, struct shape shape, struct accesses *a);
void predict_complete(const struct attention *p, struct shape shape, struct accesses *a);

#endif
