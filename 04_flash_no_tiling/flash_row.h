#ifndef FLASH_ROW_H
#define FLASH_ROW_H

#include "common/problem/attention.h"

#include <stddef.h>

/* A row's fast memory: its query, and m, l and o over the keys so far. */
struct flash_row {
    float q[ATTENTION_MAX_D];
    float m, l;
    float o[ATTENTION_MAX_D];
};

/* Loads the query, d <= ATTENTION_MAX_D elements; m = -inf, l = 0, o = 0. */
void flash_row_begin(struct flash_row *row, const float *q, size_t d);

/* Processes one key and its value, d elements each. The score is scale q.k. */
void flash_row_update(struct flash_row *row, const float *k, const float *v, size_t d, float scale);

/* Writes the output, d elements: all 0 without keys. */
void flash_row_end(const struct flash_row *row, float *o, size_t d);

/* o = softmax(scale q K^T) V for one query q (d), keys K and values V (n, d). o may be q. */
void flash_row(const float *q, const float *K, const float *V, float *o, size_t n, size_t d,
               float scale);

#endif
