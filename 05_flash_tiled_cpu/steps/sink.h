#ifndef FLASH_TILED_SINK_H
#define FLASH_TILED_SINK_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* All options except modified scores; sinks (H). lse includes the sink. */
void sink_attention(const struct attention *p, struct tile_size size, const float *sinks,
                    struct tensors x);

/* The gradient of one head's sink, from n queries: D = sum of dO O, lse of sink_attention. */
float sink_gradient(float sink, const float *lse, const float *D, size_t n);

#endif
