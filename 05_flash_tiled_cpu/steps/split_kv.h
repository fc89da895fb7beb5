/*
 * Parts of the keys, and what a query has from each: for split_kv and complete.
 */
#ifndef FLASH_TILED_SPLIT_KV_H
#define FLASH_TILED_SPLIT_KV_H

#include "05_flash_tiled_cpu/steps/tile.h"

/*
 * What one query has from some of the keys: the maximum m of their scores x, the sum of e^{x - m}, and
 * the sum of e^{x - m} v.
 */
struct part {
    float m, l, o[ATTENTION_MAX_D];
};

/* The keys of b join those of a. Any order and any tree of joins gives the same, but for rounding. */
void part_join(struct part *a, const struct part *b, size_t d);

/* The parts of all queries, in slow memory: m and l (B, H, Nq, count), O (B, H, Nq, count, d). */
struct parts {
    size_t count;
    float *m, *l, *O;
};

struct parts parts_new(const struct attention *p);
void parts_free(struct parts *parts);

/* The keys of part s: from here to before the beginning of part s + 1. */
size_t parts_begin(const struct parts *parts, const struct attention *p, size_t s);

/* Stores what the queries of t have from part s, and afterwards joins all parts of query i. */
void parts_keep(const struct parts *parts, size_t s, struct head a, struct tile t,
                const struct fast_memory *fast);
void parts_finish(const struct parts *parts, struct head a, size_t i);

void parts_keep_counted(const struct parts *parts, size_t s, struct head a, struct tile t,
                        const struct fast_memory *fast);
void parts_finish_counted(const struct parts *parts, struct head a, size_t i);

#endif
