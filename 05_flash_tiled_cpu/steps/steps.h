/*
 * Chapter 05, the steps: each is a file in this folder or in fast/, with one idea more than the one before. steps.c, in the
 * folder above, lists them.
 */
#ifndef FLASH_TILED_STEPS_H
#define FLASH_TILED_STEPS_H

#include "common/problem/tensors.h"

#include <stddef.h>

/*
 * What every step does: O (B, H, Nq, d) and, unless it is NULL, lse (B, H, Nq), for the problem p
 * with d at most 256. Q is (B, H, Nq, d), K and V are (B, Hkv, Nk, d); O may not be Q. A query that
 * attends to no key has O = 0 and lse = -inf.
 *
 * standard, block_matmul, fa1 and fa2 know neither masks nor dropout: they compute as if p had none, and the
 * program refuses to run them with any. From masks on, a tile of which no query attends to any key is not read.
 * masks knows no dropout. standard and block_matmul write no lse. standard needs 2 Nq Nk elements of
 * extra memory, and a row of scores that are all -inf is NaN there, as in a plain softmax. Only complete
 * has threads; its result does not depend on how many.
 */
attention_step fa1, fa2, complete;  // and the others; these three are called by their names too

/* The tiles that suit a fast memory of M elements: FlashAttention's line 1 … */
struct tile_size fa1_size(size_t M, size_t d);

/* … for K and V inside, as in fa2 and all that follow: the other way round … */
struct tile_size fa2_size(size_t M, size_t d);

/* … and for a product alone: a tile of queries and one of keys. */
struct tile_size standard_size(size_t M, size_t d);

/*
 * The number of splits: enough to keep 16 threads busy, and none shorter than 128 keys. It depends on the
 * shape alone, so that the result does too.
 */
size_t split_count(const struct attention *p);

#endif
