/*
 * Chapter 05, the steps. Each is a file with one idea more than the one before.
 *
 *     standard       S and P stored, the products by tiles: what the others are held against
 *     block_matmul   O = (Q K^T) V by tiles: a sum over blocks of keys, and no softmax
 *     fa1            FlashAttention: tiles and the recurrence, K and V outside
 *     fa2            FlashAttention-2: Q outside, O divided by l once, at the end
 *     masks          a tile that nobody sees is skipped
 *     dropout        a random decision that no tile can change
 *     split_kv       few queries, many keys: parts, merged at the end
 *
 * and complete, all of them together, at the speed of the last of the rungs (fast/rungs.h).
 */
#ifndef FLASH_TILED_STEPS_H
#define FLASH_TILED_STEPS_H

#include "common/problem/attention.h"

#include <stddef.h>

/* A tile is Br queries by Bc keys, each at least 1; smaller at the ends, and it may exceed N. */
struct tile_size {
    size_t Br, Bc;
};

/*
 * What every step does: O (B, H, Nq, d) and, unless it is NULL, lse (B, H, Nq), for the problem p
 * with d at most 256. Q is (B, H, Nq, d), K and V are (B, Hkv, Nk, d); O may not be Q. A query that
 * sees no key has O = 0 and lse = -inf.
 *
 * standard, block_matmul, fa1 and fa2 know neither masks nor dropout: they compute as if p had none, and the
 * program refuses to run them with any. From masks on, a tile of which no query sees any key is not read.
 * masks knows no dropout. standard and block_matmul write no lse. standard needs 2 Nq Nk elements of
 * extra memory, and a row of scores that are all -inf is NaN there, as in a plain softmax. Only complete
 * has threads; its result does not depend on how many.
 */
typedef void attention_step(const struct attention *p, struct tile_size size, const float *Q,
                            const float *K, const float *V, float *O, float *lse);

attention_step standard, block_matmul, fa1, fa2, masks, dropout, split_kv, complete;

/* The same with their accesses and operations counted. */
attention_step standard_counted, block_matmul_counted, fa1_counted, fa2_counted, masks_counted,
    dropout_counted, split_kv_counted, complete_counted;

/* The tiles that suit a fast memory of M elements: FlashAttention's line 1 … */
struct tile_size fa1_size(size_t M, size_t d);

/* … for K and V inside, as in fa2 and all that follow: the other way round … */
struct tile_size fa2_size(size_t M, size_t d);

/* … and for a product alone: a tile of queries and one of keys. */
struct tile_size standard_size(size_t M, size_t d);

/*
 * In how many parts split_kv cuts the keys: so many that there is work for 16 threads,
 * none shorter than 128 keys. It depends on the shape alone, so that the answer does too.
 */
size_t split_parts(const struct attention *p);

#endif
