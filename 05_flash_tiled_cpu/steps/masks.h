#ifndef FLASH_TILED_MASKS_H
#define FLASH_TILED_MASKS_H

#include "05_flash_tiled_cpu/steps/tile.h"

void masks_apply(const struct head *a, struct tile t, struct fast_memory *fast);

/* O += P V without masked pairs: their values may be NaN. */
void masks_add_product(const struct head *a, struct tile t, struct fast_memory *fast);

#endif
