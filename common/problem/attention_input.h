#ifndef COMMON_ATTENTION_INPUT_H
#define COMMON_ATTENTION_INPUT_H

#include "common/problem/tensors.h"

#include <stddef.h>
#include <stdint.h>

struct attention_input {
    struct attention p;
    float *Q, *K, *V;     // (B, H, Nq, d), (B, Hkv, Nk, d) twice
    uint8_t *key_mask;    // (B, Nk) or NULL; p.key_mask points to it
    uint8_t *block_mask;  // in the shape of block_mask.h or NULL; p.block_mask points to it
    size_t too_large;     // how many elements of Q, K and V overflow p.dtype
    int dims;             // of Q's array: 2, 3 or 4
    char origin[400];     // where the input is from, for printing
};

/* A problem of this shape with normally distributed numbers and no options. */
struct attention_input attention_input_random(struct attention p, uint64_t seed);
void attention_input_free(struct attention_input *input);

/* The tensors that a forward step reads and writes. */
struct tensors tensors_of(const struct attention_input *input, float *O, float *lse);

/* The gradient of the loss with respect to O, in its shape, normally distributed; free() it. */
float *attention_dO_random(const struct attention *p, uint64_t seed);

/* The number of visible query-key pairs in all heads. */
size_t attention_pairs(const struct attention *p);

/*
 * Over all heads, the number of tiles of each enum tile_kind, and the queries, keys and pairs in
 * the tiles that are not skipped.
 */
struct tile_counts {
    size_t of_kind[3], queries, keys, pairs;
};

struct tile_counts count_tiles(const struct attention *p, struct tile_size size);

/* Adds the counts of the keys begin … end - 1, tiled from `begin`. */
void count_tiles_between(const struct attention *p, struct tile_size size, size_t begin, size_t end,
                         struct tile_counts *counts);

#endif
