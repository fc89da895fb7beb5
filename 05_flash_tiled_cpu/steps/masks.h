/*
 * Hiding scores of a tile, for the steps that know masks.
 */
#ifndef FLASH_TILED_MASKS_H
#define FLASH_TILED_MASKS_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* Makes the scores in S that do not count -inf. */
void masks_hide(const struct head *a, struct tile t, struct fast_memory *fast);

/* O += P V over the pairs that count: a hidden value is not even multiplied by 0, it may be NaN. */
void masks_add_product(const struct head *a, struct tile t, struct fast_memory *fast);

#endif
