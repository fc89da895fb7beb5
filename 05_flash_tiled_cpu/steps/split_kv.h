#ifndef FLASH_TILED_SPLIT_KV_H
#define FLASH_TILED_SPLIT_KV_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* Over some keys with scores x: m = max x, l = sum of e^{x - m}, o = sum of e^{x - m} v. */
struct split {
    float m, l, o[ATTENTION_MAX_D];
};

/* Merges b into a; but for rounding, order does not matter. */
void split_combine(struct split *a, const struct split *b, size_t d);

#endif
