/*
 * Splits of the keys, and what a query has from each: for split_kv and complete.
 */
#ifndef FLASH_TILED_SPLIT_KV_H
#define FLASH_TILED_SPLIT_KV_H

#include "05_flash_tiled_cpu/steps/tile.h"

/*
 * What one query has from some of the keys: the maximum m of their scores x, the sum of e^{x - m}, and
 * the sum of e^{x - m} v.
 */
struct split {
    float m, l, o[ATTENTION_MAX_D];
};

/* Adds b's keys to a. The splits can be combined in any order: the result is the same up to rounding. */
void split_combine(struct split *a, const struct split *b, size_t d);

/* The splits of all queries, in slow memory: m and l (B, H, Nq, count), O (B, H, Nq, count, d). */
struct splits {
    size_t count;
    float *m, *l, *O;
};

struct splits splits_new(const struct attention *p);
void splits_free(struct splits *splits);

/* The first key of split s; its last is the one before split s + 1 begins. */
size_t splits_begin(const struct splits *splits, const struct attention *p, size_t s);

/* Stores m, l and O of the queries of t in split s; then, when all splits are there, combines those of query i. */
void splits_keep(const struct splits *splits, size_t s, struct head a, struct tile t,
                 const struct fast_memory *fast);
void splits_finish(const struct splits *splits, struct head a, size_t i);

#endif
