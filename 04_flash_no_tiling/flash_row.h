/*
 * Chapter 04, the lesson. One row of attention in one pass over the keys and values. What it
 * keeps does not grow with their number.
 */
#ifndef FLASH_ROW_H
#define FLASH_ROW_H

#include "common/problem/attention.h"

#include <stddef.h>

/* All that a row needs in fast memory: its query, and m, l and o over the keys seen so far. */
struct flash_row {
    float q[ATTENTION_MAX_D];
    float m, l;
    float o[ATTENTION_MAX_D];
};

/* A row that has its query, d elements, and has seen no key. */
void flash_row_begin(struct flash_row *row, const float *q, size_t d);

/* Takes in one key and its value, d elements each. The score is scale q.k. */
void flash_row_see(struct flash_row *row, const float *k, const float *v, size_t d, float scale);

/* Writes the row's output, d elements. A row that has seen no key is 0. */
void flash_row_end(const struct flash_row *row, float *o, size_t d);

/* o = softmax(scale q K^T) V for one query q (d), keys K and values V (n, d). o may be q. */
void flash_row(const float *q, const float *K, const float *V, float *o, size_t n, size_t d,
               float scale);

#endif
