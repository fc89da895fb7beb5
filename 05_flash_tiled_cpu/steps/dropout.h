/*
 * A tile of queries and a stretch of keys, with masks and dropout: what the last steps are made of.
 */
#ifndef FLASH_TILED_DROPOUT_H
#define FLASH_TILED_DROPOUT_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* The scores of a tile of this kind become weights: masked, some dropped; m, l and O take note of them. */
void dropout_weigh(const struct head *a, struct tile t, enum tile_kind kind,
                   struct fast_memory *fast);

/*
 * The queries of t (its i0 and rows), begun by fa2_begin, go past the keys from `begin` to before
 * `end`, Bc at a time.
 */
void dropout_see(struct head a, struct tile t, size_t begin, size_t end, size_t Bc,
                 struct fast_memory *fast);

#endif
