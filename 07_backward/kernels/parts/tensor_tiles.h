/*
 * Sizes of tiles on tensor cores. Unless a comment says otherwise, they fit into 99 kB of shared memory, which every GPU with
 * these instructions has. Host code that predicts accesses uses them too.
 */
#ifndef BACKWARD_TENSOR_TILES_H
#define BACKWARD_TENSOR_TILES_H

/*
 * A block of keys: 128, in M-tiles of 16, one or two per warp. dK and dV take 2 d / 2 registers of a lane for each M-tile;
 * the larger d is, the fewer M-tiles. A tile has 32 queries, in mma as said below. With d = 256, which only complete16
 * supports, there is room for half of each.
 */
#define KEYS_BC(d) ((d) <= 128 ? 128 : 64)
#define KEYS_BR(d) ((d) <= 128 ? 32 : 16)
#define KEYS_M_TILES(d) ((d) <= 64 ? 2 : 1)

/*
 * Queries in a tile of mma, which has room for two of Q, two of dO and two of dS. With d = 128 they are 64 where a block may
 * have 161 kB of shared memory, as on GPUs of compute capability 8.0 and 9.0, and else 16, for which 89 kB do.
 */
#define MMA_BR(d) ((d) <= 64 ? 32 : 64)
#define MMA_SMALL_BR(d) ((d) <= 64 ? 32 : 16)

/* And half of dK and dV: so many blocks share the elements of their rows. */
#define KEYS_PARTS(d) ((d) <= 128 ? 1 : 2)

/* A block of queries, where there is one: 128, by chapter 06's tiles of keys. */
#define QUERIES_BR(d) ((d) <= 128 ? 128 : 64)
#define QUERIES_BC(d) ((d) <= 64 ? 64 : (d) <= 128 ? 32 : 16)

/* For Hopper, with more shared memory: 128 keys, 64 a warpgroup, and as many queries as there are registers for. */
#define HOPPER_KEYS 128
#define HOPPER_QUERIES(d) ((d) <= 64 ? 128 : 64)

#endif
