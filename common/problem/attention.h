/*
 * An attention problem: its shape, and which query attends to which key.
 *
 *     S = scale Q K^T        P = softmax(S)        O = P V        for every batch entry and head
 *
 * Q and O are (B, H, Nq, d), K and V are (B, Hkv, Nk, d), lse is (B, H, Nq): row-major float32.
 *
 * The functions below, for CPU and CUDA, define all options: `score_of`, `visible`, `tile_kind`,
 * `attention_band`, `kv_head` and `dropout_keeps`. The fast steps have vector versions of some.
 */
#ifndef COMMON_ATTENTION_H
#define COMMON_ATTENTION_H

#include "common/problem/dtype.h"
#include "common/problem/random.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTENTION_MAX_D = 256 };  // largest d on the CPU

struct attention {
    size_t B, H, Hkv;  // batch entries, query heads, key/value heads; Hkv divides H
    size_t Nq, Nk, d;  // queries, keys, elements per row (the head dimension)
    enum dtype dtype;  // of Q, K, V and O; on the host they are float32 arrays
    float scale;

    bool causal;                          // masks keys after the query's position,
    bool top_left;                        // aligns the first query and key; default: the last
    float softcap;                        // C: a score s becomes C tanh(s / C); 0: none
    ptrdiff_t window_left, window_right;  // keys before and after its position; -1: all

    const uint8_t *key_mask;      // (B, Nk), 0 masks the key for all queries; or NULL
    const uint8_t *block_mask;    // (ceil(Nq / mask_rows), ceil(Nk / mask_cols)), 0 masks; or NULL
    size_t mask_rows, mask_cols;  // the block mask's own block size, not a kernel's tile

    double dropout;              // probability P of dropping a weight, 0 <= P < 1
    uint32_t dropout_threshold;  // ceil(P 2^24), from attention_set_dropout
    uint64_t dropout_seed;
    // Your variant: its parameters.
};

/* A tile is Br queries by Bc keys, each at least 1; it may exceed Nq or Nk. */
struct tile_size {
    size_t Br, Bc;
};

/* A problem of this shape, with scale 1/sqrt(d) and no options. */
struct attention attention_of(size_t B, size_t H, size_t Hkv, size_t Nq, size_t Nk, size_t d);

/* The number of elements of Q and O, of K and V, and of lse. */
size_t attention_query_elements(const struct attention *p);
size_t attention_key_elements(const struct attention *p);
size_t attention_rows(const struct attention *p);

/* Enables dropout with probability P, 0 <= P < 1. */
void attention_set_dropout(struct attention *p, double P, uint64_t seed);

/* The key/value head of query head h: H / Hkv consecutive query heads share one. */
HOST_DEVICE static inline size_t kv_head(const struct attention *p, size_t h)
{
    return h / (p->H / p->Hkv);
}

/*
 * The command-line name of the option that modifies scores; NULL for plain scaled dot products. A
 * step without SUPPORTS_SCORE rejects the problem, naming this option.
 */
HOST_DEVICE static inline const char *score_option(const struct attention *p)
{
    // Your variant: its name, if its parameters enable it.
    return p->softcap > 0.0f ? "--softcap" : NULL;
}

/*
 * The score of query i and key j of batch entry b, head h, from their dot product, before any mask;
 * and its derivative with respect to the dot product. FlexAttention's score_mod; `visible` is its
 * mask_mod.
 */
HOST_DEVICE static inline double score_of(const struct attention *p, size_t b, size_t h, size_t i,
                                          size_t j, double dot)
{
    (void)b, (void)h, (void)i, (void)j;  // softcap treats all pairs alike
    // Your variant: its formula.
    const double s = (double)p->scale * dot, C = (double)p->softcap;
    return p->softcap > 0.0f ? C * tanh(s / C) : s;
}

HOST_DEVICE static inline double score_slope(const struct attention *p, size_t b, size_t h,
                                             size_t i, size_t j, double dot)
{
    // Your variant: its derivative.
    const double t = p->softcap > 0.0f ? score_of(p, b, h, i, j, dot) / (double)p->softcap : 0.0;
    return (double)p->scale * (1.0 - t * t);  // of tanh: 1 - tanh^2
}

/*
 * Query i attends to keys with low <= j - i <= high. Its position is i + offset: the last query is
 * at the last key, or with top_left the first query at the first key.
 */
struct band {
    ptrdiff_t low, high;
};

HOST_DEVICE static inline struct band attention_band(const struct attention *p)
{
    const ptrdiff_t offset = p->top_left ? 0 : (ptrdiff_t)p->Nk - (ptrdiff_t)p->Nq;
    const ptrdiff_t all = (ptrdiff_t)p->Nq + (ptrdiff_t)p->Nk;  // no window need be wider
    struct band band = { -all, all };
    if (p->window_left >= 0 && p->window_left < all)
        band.low = offset - p->window_left;
    if (p->window_right >= 0 && p->window_right < all)
        band.high = offset + p->window_right;
    if (p->causal && band.high > offset)
        band.high = offset;
    return band;
}

/* Does query i of batch entry b, head h attend to key j?  O(1). */
HOST_DEVICE static inline bool visible(const struct attention *p, size_t b, size_t h, size_t i,
                                       size_t j)
{
    (void)h;  // all heads have the same mask
    const struct band band = attention_band(p);
    const ptrdiff_t distance = (ptrdiff_t)j - (ptrdiff_t)i;
    if (distance < band.low || distance > band.high)
        return false;
    if (p->key_mask && !p->key_mask[b * p->Nk + j])
        return false;
    if (p->block_mask) {
        const size_t columns = (p->Nk - 1) / p->mask_cols + 1;
        return p->block_mask[i / p->mask_rows * columns + j / p->mask_cols];
    }
    return true;
}

enum tile_kind {
    TILE_SKIPPED,  // all pairs masked: nothing to read or do
    TILE_PARTIAL,  // call `visible` for each score
    TILE_FULL,     // no pair masked
};

/*
 * The kind of the tile of queries i0 … i1-1 and keys j0 … j1-1, both ranges non-empty. SKIPPED and
 * FULL are exact. PARTIAL is not: where masks combine, the tile may be fully masked.
 * O(keys + mask blocks of the tile).
 */
HOST_DEVICE static inline enum tile_kind tile_kind(const struct attention *p, size_t b, size_t h,
                                                   size_t i0, size_t i1, size_t j0, size_t j1)
{
    (void)h;
    const struct band band = attention_band(p);
    const ptrdiff_t nearest = (ptrdiff_t)j0 - (ptrdiff_t)(i1 - 1);   // j - i takes every value …
    const ptrdiff_t farthest = (ptrdiff_t)(j1 - 1) - (ptrdiff_t)i0;  // … between these two
    if (farthest < band.low || nearest > band.high)
        return TILE_SKIPPED;
    bool all = nearest >= band.low && farthest <= band.high;

    if (p->key_mask) {
        size_t seen = 0;
        for (size_t j = j0; j < j1; j++)
            seen += p->key_mask[b * p->Nk + j] != 0;
        if (seen == 0)
            return TILE_SKIPPED;
        all = all && seen == j1 - j0;
    }
    if (p->block_mask) {
        const size_t columns = (p->Nk - 1) / p->mask_cols + 1;
        size_t seen = 0, blocks = 0;
        for (size_t r = i0 / p->mask_rows; r <= (i1 - 1) / p->mask_rows; r++)
            for (size_t c = j0 / p->mask_cols; c <= (j1 - 1) / p->mask_cols; c++, blocks++)
                seen += p->block_mask[r * columns + c] != 0;
        if (seen == 0)
            return TILE_SKIPPED;
        all = all && seen == blocks;
    }
    return all ? TILE_FULL : TILE_PARTIAL;
}

/*
 * Does dropout keep the weight of key j for query i?  Kept weights are multiplied by 1/(1 - P).
 * This depends only on coordinates and seed, not on tiling, threads or direction.
 */
HOST_DEVICE static inline bool dropout_keeps(const struct attention *p, size_t b, size_t h,
                                             size_t i, size_t j)
{
    if (p->dropout_threshold == 0)
        return true;
    const struct philox counter = { { (uint32_t)(j / 4), (uint32_t)i, (uint32_t)h, (uint32_t)b } };
    const struct philox four = philox4x32(counter, p->dropout_seed);
    // Conditions, because registers cannot be indexed: a GPU would put an indexed array into
    // local memory.
    const uint32_t low = j % 2 ? four.word[1] : four.word[0];
    const uint32_t high = j % 2 ? four.word[3] : four.word[2];
    return (j % 4 < 2 ? low : high) >> 8 >= p->dropout_threshold;
}

#ifdef __cplusplus
}
#endif

#endif
