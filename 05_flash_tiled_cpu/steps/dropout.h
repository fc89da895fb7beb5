#ifndef FLASH_TILED_DROPOUT_H
#define FLASH_TILED_DROPOUT_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* From scores S: masks them if the tile is partial, softmax, dropout, O += P V. */
void dropout_process_scores(const struct head *a, struct tile t, enum tile_kind kind,
                            struct fast_memory *fast);

/* Processes keys begin … end - 1, Bc at a time, for t's queries, which fa2_begin loaded. */
void dropout_process_keys(struct head a, struct tile t, size_t begin, size_t end, size_t Bc,
                          struct fast_memory *fast);

#endif
