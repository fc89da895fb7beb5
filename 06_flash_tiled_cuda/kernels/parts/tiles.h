/*
 * Tile sizes: Br queries by Bc keys, compile-time constants. In float32 they fit 48 kB of shared
 * memory, which every GPU has.
 */
#ifndef FLASH_TILED_CUDA_TILES_H
#define FLASH_TILED_CUDA_TILES_H

/* Macros, because C functions and template parameters use them. */
#define FA1_BR 16
#define FA1_BC(d) ((d) <= 32 ? 128 : (d) <= 64 ? 64 : 32)

#define FA2_BR(d) (16 * ((d) <= 64 ? 8 : 4))
#define FA2_BC 64

/* The first kernel on tensor cores: 4 warps of 16 queries. */
#define TURING_BR 64

/* The others: 4 warps of 32 queries, and as many keys as there are registers for scores. */
#define TENSOR_BR 128
#define TENSOR_BC(d) ((d) <= 64 ? 64 : 32)

/* With 32 keys at d = 128 nvcc runs out of registers for compute capability 9.0. */
#define POWER_BC(d) ((d) <= 64 ? 64 : 16)

/* Two warpgroups, 64 queries each. */
#define HOPPER_BC 128

/*
 * `store`: three consumers where registers suffice, and more keys unless causal order leaves out
 * part of them.
 */
#define STORE_BR(d) ((d) <= 64 ? 192 : 128)
#define STORE_BC(d, causal) ((d) <= 64 || (causal) ? 128 : 176)

/*
 * Kernels with a choice of tiles, --br and --bc: X(d, Br, Bc, bands of 16 queries a warp, blocks
 * whose registers a multiprocessor must hold). The first of each d is the default. For budget this
 * is one that 99 kB of shared memory, which most GPUs give, hold, and that needs few instructions
 * for a product. 128 by 128 with d = 128 needs more memory.
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
