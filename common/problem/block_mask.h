/*
 * Block masks: which blocks of queries and keys attend.
 *
 * A block is p->mask_rows queries by p->mask_cols keys, fewer at the ends. A mask has one element
 * for each, row-major, 0 for a masked block; its shape is (ceil(Nq / mask_rows), ceil(Nk /
 * mask_cols)). All batch entries and heads share it.
 */
#ifndef COMMON_BLOCK_MASK_H
#define COMMON_BLOCK_MASK_H

#include "common/problem/attention.h"

#include <stddef.h>
#include <stdint.h>

size_t block_mask_rows(const struct attention *p);
size_t block_mask_columns(const struct attention *p);

/*
 * Fills the mask with 0 and 1: 1 for blocks with some pair of query i and key j with |i + offset -
 * j| <= width, where offset is attention_band's: Nk - Nq, or 0 with p->top_left. O(blocks).
 */
void block_mask_band(uint8_t *mask, const struct attention *p, size_t width);

/*
 * Fills the mask: 1 for block (r, c) if word 0 of Philox with counter (c, r, 0, 0) and key `seed`,
 * as a fraction of 2^32, is below `density`.
 */
void block_mask_random(uint8_t *mask, const struct attention *p, double density, uint64_t seed);

#endif
