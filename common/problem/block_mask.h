/*
 * Block masks: which blocks of queries and keys attention looks at, and those that a rule makes.
 *
 * A block is p->mask_rows queries by p->mask_cols keys, fewer at the ends. A mask has one element
 * for each, row-major, 0 where no query of the block sees any of its keys: its shape is
 * (ceil(Nq / mask_rows), ceil(Nk / mask_cols)). Every batch entry and head has the same mask.
 */
#ifndef COMMON_BLOCK_MASK_H
#define COMMON_BLOCK_MASK_H

#include "common/problem/attention.h"

#include <stddef.h>
#include <stdint.h>

/* The shape of a block mask for p. */
size_t block_mask_rows(const struct attention *p);
size_t block_mask_columns(const struct attention *p);

/*
 * Writes the whole mask, of block_mask_rows(p) by block_mask_columns(p) elements, each 0 or 1: keeps
 * a block that holds some pair of query i and key j with |i + offset - j| <= width, where the offset
 * is that of attention_band: Nk - Nq, or 0 with p->top_left. O(blocks).
 */
void block_mask_band(uint8_t *mask, const struct attention *p, size_t width);

/*
 * Writes the whole mask, of the same shape: keeps block (r, c) if word 0 of Philox with counter
 * (c, r, 0, 0) and key `seed`, as a fraction of 2^32, is below `density`.
 */
void block_mask_random(uint8_t *mask, const struct attention *p, double density, uint64_t seed);

#endif
