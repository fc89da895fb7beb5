#ifndef FLASH_TILED_STEPS_H
#define FLASH_TILED_STEPS_H

#include "common/problem/tensors.h"

#include <stddef.h>

/*
 * Each computes O (B, H, Nq, d) and, unless NULL, lse (B, H, Nq), for d <= 256. Q is (B, H, Nq, d),
 * K and V (B, Hkv, Nk, d); O may not be Q. A query that attends to no key has O = 0 and lse = -inf.
 *
 * Steps standard to fa2 ignore masks and dropout, masks ignores dropout. standard and block_matmul
 * write no lse; standard needs 2 Nq Nk more elements, and makes rows of -inf NaN. From masks on, a
 * fully masked tile is not read. Only complete uses threads, whose number does not change its
 * result.
 */
attention_step fa1, fa2, complete;  // the only ones called directly

/* Tile sizes for a fast memory of M elements; later steps use fa2_size. */
struct tile_size fa1_size(size_t M, size_t d);
struct tile_size fa2_size(size_t M, size_t d);
struct tile_size standard_size(size_t M, size_t d);

/* The number of splits, by the shape alone. */
size_t split_count(const struct attention *p);

#endif
