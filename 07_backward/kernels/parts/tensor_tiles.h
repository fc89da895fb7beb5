/*
 * Tile sizes on tensor cores. Unless stated, they fit 99 kB of shared memory, which all these GPUs
 * have. Host code uses them too.
 */
#ifndef BACKWARD_TENSOR_TILES_H
#define BACKWARD_TENSOR_TILES_H

/*
 * 128 keys a block, one or two M-tiles of 16 per warp: each takes 2 d / 2 registers of a lane for
 * dK and dV. 32 queries a tile, except in mma. d = 256, only in complete16, has half of each.
 */
#define KEYS_BC(d) ((d) <= 128 ? 128 : 64)
#define KEYS_BR(d) ((d) <= 128 ? 32 : 16)
#define KEYS_M_TILES(d) ((d) <= 64 ? 2 : 1)

/*
 * mma has room for two of Q, two of dO and two of dS. For d = 128 64 queries need 161 kB of shared
 * memory (compute capability 8.0 and 9.0 have it), 16 need 89 kB.
 */
#define MMA_BR(d) ((d) <= 64 ? 32 : 64)
#define MMA_SMALL_BR(d) ((d) <= 64 ? 32 : 16)

/* Blocks that share the rows of dK and dV. */
#define KEYS_PARTS(d) ((d) <= 128 ? 1 : 2)

/* Where a block has queries: 128, by chapter 06's tiles of keys. */
#define QUERIES_BR(d) ((d) <= 128 ? 128 : 64)
#define QUERIES_BC(d) ((d) <= 64 ? 64 : (d) <= 128 ? 32 : 16)

/* 64 keys a warpgroup, and as many queries as registers allow. */
#define HOPPER_KEYS 128
#define HOPPER_QUERIES(d) ((d) <= 64 ? 128 : 64)

#endif
