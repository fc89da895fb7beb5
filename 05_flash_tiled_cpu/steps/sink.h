/*
 * Attention with a sink for each query head, and the sink's gradient.
 */
#ifndef FLASH_TILED_SINK_H
#define FLASH_TILED_SINK_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* O and lse, which counts the sink. All options but scores that are changed; sinks (H). */
void sink_attention(const struct attention *p, struct tile_size size, const float *sinks,
                    struct tensors x);

/* The gradient of a head's sink: D is the sum of dO O of each of the head's n queries, lse that of sink_attention. */
float sink_gradient(float sink, const float *lse, const float *D, size_t n);

#endif
