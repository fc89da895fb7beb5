/*
 * Persistent blocks take tiles of as many heads at a time as fit in L2: last queries first, which
 * in causal order attend to most keys.
 */
#ifndef FLASH_TILED_CUDA_QUEUE_H
#define FLASH_TILED_CUDA_QUEUE_H

#include "common/problem/attention.h"

/* bytes, of 50 MB */
enum { QUEUE_CACHE = 32 << 20 };

struct queued {
    unsigned head, i0;
};

HOST_DEVICE static inline unsigned queue_length(const struct attention *p, unsigned Br)
{
    return (unsigned)(p->B * p->H) * (((unsigned)p->Nq + Br - 1) / Br);
}

HOST_DEVICE static inline unsigned heads_that_fit(const struct attention *p)
{
    const size_t KV_bytes = 4 * p->Nk * p->d;
    const unsigned all = (unsigned)(p->B * p->H), sharing = (unsigned)p->H / (unsigned)p->Hkv;
    const unsigned fit = KV_bytes < QUEUE_CACHE ? QUEUE_CACHE / (unsigned)KV_bytes : 1;
    return fit < all / sharing ? fit * sharing : all;
}

HOST_DEVICE static inline struct queued queue_at(const struct attention *p, unsigned Br, unsigned n)
{
    const unsigned heads = (unsigned)(p->B * p->H), tiles = ((unsigned)p->Nq + Br - 1) / Br;
    const unsigned some = heads_that_fit(p), before = n / (some * tiles) * some;
    const unsigned here = heads - before < some ? heads - before : some, rest = n - before * tiles;
    const struct queued next = { before + rest % here, (tiles - 1 - rest / here) * Br };
    return next;
}

#endif
