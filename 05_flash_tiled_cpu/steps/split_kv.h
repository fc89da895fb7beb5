#ifndef FLASH_TILED_SPLIT_KV_H
#define FLASH_TILED_SPLIT_KV_H

#include "05_flash_tiled_cpu/steps/tile.h"

/* Over some keys with scores x: m = max x, l = sum of e^{x - m}, o = sum of e^{x - m} v. */
struct split {
    float m, l, o[ATTENTION_MAX_D];
};

/* Merges b into a; but for rounding, order does not matter. */
void split_combine(struct split *a, const struct split *b, size_t d);

/* In slow memory: m and l (B, H, Nq, count), O (B, H, Nq, count, d). */
struct splits {
    size_t count;
    float *m, *l, *O;
};

struct splits splits_new(const struct attention *p);
void splits_free(struct splits *splits);

/* The first key of split s; Nk for s = count. */
size_t splits_begin(const struct splits *splits, const struct attention *p, size_t s);

/* Stores m, l and O of t's queries for split s. */
void splits_store(const struct splits *splits, size_t s, struct head a, struct tile t,
                  const struct fast_memory *fast);

/* Combines query i's splits, all stored before, into O and lse. */
void splits_finish(const struct splits *splits, struct head a, size_t i);

#endif
