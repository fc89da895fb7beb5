/*
 * Tiles on tensor cores. Up to QUERIES_BC they fit in 99 kB of shared memory, compute capability
 * 8.6's limit for a block, unless stated.
 */
#ifndef BACKWARD_TENSOR_TILES_H
#define BACKWARD_TENSOR_TILES_H

/*
 * 128 keys per block (64 for d = 256), 16 or 32 per warp: 16 take d registers per lane, for dK and
 * dV. KEYS_BR queries per tile; mma has its own.
 */
#define KEYS_BC(d) ((d) <= 128 ? 128 : 64)
#define KEYS_BR(d) ((d) <= 128 ? 32 : 16)
#define KEYS_M_TILES(d) ((d) <= 64 ? 2 : 1)

/* For d = 128, 64 queries need 161 kB (compute capability 8.0, 9.0), 16 need 89 kB. */
#define MMA_BR(d) ((d) <= 64 ? 32 : 64)
#define MMA_SMALL_BR(d) ((d) <= 64 ? 32 : 16)

/* Blocks that split the columns of a tile of dK and dV. */
#define KEYS_PARTS(d) ((d) <= 128 ? 1 : 2)

/* 128 or 64 queries, and chapter 06's Bc. */
#define QUERIES_BR(d) ((d) <= 128 ? 128 : 64)
#define QUERIES_BC(d) ((d) <= 64 ? 64 : (d) <= 128 ? 32 : 16)

#define HOPPER_KEYS 128
#define HOPPER_M_TILES 1
#define HOPPER_WARPS (HOPPER_KEYS / (16 * HOPPER_M_TILES))
#define HOPPER_QUERIES(d) ((d) <= 64 ? 128 : 64)

#endif
