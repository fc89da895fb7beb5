#ifndef FLASH_TILED_FA2_H
#define FLASH_TILED_FA2_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* Loads the queries of t; m = -inf, l = 0, O = 0. */
void fa2_begin(struct head a, struct tile t, struct fast_memory *fast);

/* Turns S into weights e^{S - m}, not divided by l; updates m and l, rescales O. */
void fa2_softmax(struct fast_memory *fast, struct tile t, size_t d);

/* Stores O / l (0 without keys) and, unless it is NULL, lse. */
void fa2_end(struct head a, struct tile t, struct fast_memory *fast);

#endif
