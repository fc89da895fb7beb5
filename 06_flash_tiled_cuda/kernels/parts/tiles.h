/* Br queries by Bc keys. In float32 they fit in a block's default 48 kB of shared memory. */
#ifndef FLASH_TILED_CUDA_TILES_H
#define FLASH_TILED_CUDA_TILES_H

#define FA1_BR 16
#define FA1_BC(d) ((d) <= 32 ? 128 : (d) <= 64 ? 64 : 32)

#define FA2_BR(d) (16 * ((d) <= 64 ? 8 : 4))
#define FA2_BC 64

/* 4 warps of 16 queries. */
#define TURING_BR 64

/* 4 warps of 32 queries, and as many keys as registers allow. */
#define TENSOR_BR 128
#define TENSOR_BC(d) ((d) <= 64 ? 64 : 32)

/* With 32 keys and d = 128, nvcc spills for 9.0. */
#define POWER_BC(d) ((d) <= 64 ? 64 : 16)

#define HOPPER_BC 128

/* Three consumer warpgroups if registers suffice; without a causal mask, more keys. */
#define STORE_BR(d) ((d) <= 64 ? 192 : 128)
#define STORE_BC(d, causal) ((d) <= 64 || (causal) ? 128 : 176)

/*
 * X(d, Br, Bc, M-tiles per warp, blocks per multiprocessor), for --br and --bc. The first of each
 * d, the default, fits in compute capability 8.6's 99 kB per block.
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
