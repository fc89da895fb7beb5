/*
 * How large the kernels' tiles are: Br queries by Bc keys. They are part of the kernels, known when
 * these are compiled, and such that 48 kB of shared memory hold them: that much every GPU gives.
 */
#ifndef FLASH_TILED_CUDA_TILES_H
#define FLASH_TILED_CUDA_TILES_H

/* These are macros because both a C function and a template's parameter need them. */
#define FA1_BR 16
#define FA1_BC(d) ((d) <= 32 ? 128 : (d) <= 64 ? 64 : 32)

#define FA2_BR(d) (16 * ((d) <= 64 ? 8 : 4))
#define FA2_BC 64

/* The first kernel on tensor cores: 4 warps of 16 queries. */
#define TURING_BR 64

/* The others: 4 warps of 32 queries, and as many keys as there are registers for scores. */
#define TENSOR_BR 128
#define TENSOR_BC(d) ((d) <= 64 ? 64 : 32)

/* From exp2 on, with 32 keys at d = 128, nvcc runs out of registers for compute capability 9.0. */
#define POWER_BC(d) ((d) <= 64 ? 64 : 16)

/* The kernels of two warpgroups, 64 queries each. */
#define HOPPER_BC 128

/* Those of `store`: three consumers where their registers suffice, and more keys where no mask leaves a part of them out. */
#define STORE_BR(d) ((d) <= 64 ? 192 : 128)
#define STORE_BC(d, causal) ((d) <= 64 || (causal) ? 128 : 176)

/*
 * Kernels with several tiles, of which --br and --bc choose one: X(d, Br, Bc, bands of 16 queries a warp, blocks
 * that a multiprocessor is to have registers for). The first of each d is what they take if nobody asks. For budget
 * that is, of those that 99 kB of shared memory hold, which most GPUs give, one with few instructions for a product,
 * and few of these from shared memory. 128 by 128 with d = 128 is for GPUs that give more.
 */
// clang-format off
#define BUDGET_TILES(X)       \
    X(64, 128, 64, 2, 2)      \
    X(64, 128, 32, 2, 2)      \
    X(64, 64, 64, 1, 4)       \
    X(64, 64, 128, 1, 2)      \
    X(128, 128, 32, 2, 2)     \
    X(128, 64, 64, 1, 2)      \
    X(128, 128, 64, 1, 1)     \
    X(128, 128, 128, 1, 1)

#define COMPLETE16_TILES(X)   \
    X(32, 128, 64, 2, 1)      \
    X(64, 128, 64, 2, 1)      \
    X(64, 64, 64, 1, 1)       \
    X(96, 128, 32, 2, 1)      \
    X(128, 128, 32, 2, 1)     \
    X(128, 64, 64, 1, 1)      \
    X(256, 64, 16, 1, 1)
// clang-format on

#endif
