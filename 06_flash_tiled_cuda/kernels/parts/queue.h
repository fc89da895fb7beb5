/*
 * The order in which blocks take tiles of queries, when there are more tiles than blocks: who is done takes the next.
 *
 * The longest come first. In causal order the last queries see the most keys, so of some heads the last tile comes first,
 * then the one before it. What is left at the end is short, and no block works long while the others have nothing to do.
 *
 * Some heads, and not all: their K and V fit together into the L2 cache, and so the blocks, which work on all of them at
 * the same time, do not wait for slow memory. Then the next heads follow.
 */
#ifndef FLASH_TILED_CUDA_QUEUE_H
#define FLASH_TILED_CUDA_QUEUE_H

#include "common/problem/attention.h"

/* Bytes of K and V that may well stay in an L2 cache of 50 MB, beside all else that comes through. */
enum { QUEUE_CACHE = 32 << 20 };

/* Tile number n of all: the head, and the first query. */
struct queued {
    unsigned head, i0;
};

/* How many there are, Br queries each. */
HOST_DEVICE static inline unsigned queue_length(const struct attention *p, unsigned Br)
{
    return (unsigned)(p->B * p->H) * (((unsigned)p->Nq + Br - 1) / Br);
}

/* So many heads at a time, one at least; those that share a K and a V are together. */
HOST_DEVICE static inline unsigned queue_heads(const struct attention *p)
{
    const size_t bytes = 4 * p->Nk * p->d;
    const unsigned all = (unsigned)(p->B * p->H), sharing = (unsigned)p->H / (unsigned)p->Hkv;
    const unsigned fit = bytes < QUEUE_CACHE ? QUEUE_CACHE / (unsigned)bytes : 1;
    return fit < all / sharing ? fit * sharing : all;
}

HOST_DEVICE static inline struct queued queue_at(const struct attention *p, unsigned Br, unsigned n)
{
    const unsigned heads = (unsigned)(p->B * p->H), tiles = ((unsigned)p->Nq + Br - 1) / Br;
    const unsigned some = queue_heads(p), before = n / (some * tiles) * some;
    const unsigned here = heads - before < some ? heads - before : some, rest = n - before * tiles;
    const struct queued next = { before + rest % here, (tiles - 1 - rest / here) * Br };
    return next;
}

#endif
