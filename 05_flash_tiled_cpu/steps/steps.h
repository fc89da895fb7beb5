#ifndef FLASH_TILED_STEPS_H
#define FLASH_TILED_STEPS_H

#include "common/problem/tensors.h"

#include <stddef.h>

/*
 * Each computes O and, unless NULL, lse (shapes: attention.h), for d <= 256; O may not be Q. A
 * query that attends to no key has O = 0 and lse = -inf.
 *
 * A step ignores options that steps.c does not list for it; one with masks reads no fully masked
 * tile. standard and block_matmul write no lse; standard needs 2 Nq Nk more elements, and makes
 * rows of -inf NaN.
 */
attention_step fa1, fa2, complete;  // the only ones called directly

/* Tile sizes for a fast memory of M elements; later steps use fa2_size. */
struct tile_size fa1_size(size_t M, size_t d);
struct tile_size fa2_size(size_t M, size_t d);
struct tile_size standard_size(size_t M, size_t d);

/* Keys of a split: constant, so that neither batch nor threads change a row's bits. */
enum { SPLIT_KEYS = 512 };

static inline size_t split_count(const struct attention *p)
{
    return (p->Nk - 1) / SPLIT_KEYS + 1;
}

#endif
