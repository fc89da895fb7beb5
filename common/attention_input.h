/*
 * The input of chapters 04 to 07: an attention problem with its Q, K and V, from files, made up, or
 * the course's own.
 */
#ifndef COMMON_ATTENTION_INPUT_H
#define COMMON_ATTENTION_INPUT_H

#include "attention.h"
#include "options.h"

#include <stddef.h>

struct attention_input {
    struct attention p;
    float *Q, *K, *V;     // (B, H, Nq, d), (B, Hkv, Nk, d) twice
    uint8_t *key_mask;    // (B, Nk) or NULL; p.key_mask points to it
    uint8_t *block_mask;  // in the shape of block_mask.h or NULL; p.block_mask points to it
    size_t Br, Bc;        // of the tiles that --br and --bc ask for; 0: they do not
    size_t too_large;     // so many numbers of Q, K and V are infinite because of p.dtype
    int dims;             // of the array that Q came in: 2, 3 or 4
    char origin[400];     // where they come from, to be printed
};

/*
 * The problem that the command line asks for, its options included: --q, --k and --v, or normal
 * numbers in the shape of --batch, --heads, …, or common/data/{q,k,v,key_mask}.npy. Ends the
 * program with EXIT_USAGE if shapes do not fit together.
 */
struct attention_input attention_input_load(const struct options *options);

/* A problem of this shape with normal numbers and no options. */
struct attention_input attention_input_random(struct attention p, uint64_t seed);
void attention_input_free(struct attention_input *input);

/*
 * The gradient of the loss by O, for chapter 07: --do, or normal numbers in Q's shape; free() it. Ends the
 * program with EXIT_USAGE if the file's shape is not that of Q.
 */
float *attention_input_dO(const struct attention_input *input, const struct options *options);

/* How many pairs of a query and a key that it sees there are, in all heads. */
size_t attention_pairs(const struct attention *p);

/* The part "Input": where it comes from, its shape, and how many pairs there are. */
void attention_describe(const struct attention_input *input);

#endif
