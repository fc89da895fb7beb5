/*
 * The pieces of FlashAttention-2 that the steps after it are made of: a tile of queries that goes
 * past the keys, with its m, l and O in fast memory.
 */
#ifndef FLASH_TILED_FA2_H
#define FLASH_TILED_FA2_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* Loads the queries of t, which have seen nothing yet. */
void fa2_begin(struct head a, struct tile t, struct fast_memory *fast);

/* S, the scores of t, become e^{S - m}; m, l and O take note of them. O still lacks their values. */
void fa2_softmax(struct fast_memory *fast, struct tile t, size_t d);

/* Divides O by l, and stores it and lse. */
void fa2_end(struct head a, struct tile t, struct fast_memory *fast);

#endif
