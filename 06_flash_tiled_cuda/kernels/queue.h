/*
 * The order in which blocks take tiles of queries, when there are more tiles than blocks: who is done takes the next.
 *
 * The longest come first. In causal order the last queries see the most keys, so of all heads the last tile comes first,
 * then the one before it. What is left at the end is short, and no block works long while the others have nothing to do.
 */
#ifndef FLASH_TILED_CUDA_QUEUE_H
#define FLASH_TILED_CUDA_QUEUE_H

#include "attention.h"

/* Tile number n of all: the head, and the first query. */
struct queued {
    unsigned head, i0;
};

/* How many there are, Br queries each. */
HOST_DEVICE static inline unsigned queue_length(const struct attention *p, unsigned Br)
{
    return (unsigned)(p->B * p->H) * (((unsigned)p->Nq + Br - 1) / Br);
}

HOST_DEVICE static inline struct queued queue_at(const struct attention *p, unsigned Br, unsigned n)
{
    const unsigned heads = (unsigned)(p->B * p->H), tiles = ((unsigned)p->Nq + Br - 1) / Br;
    const struct queued next = { n % heads, (tiles - 1 - n / heads) * Br };
    return next;
}

#endif
