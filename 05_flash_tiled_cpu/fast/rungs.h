/*
 * Chapter 05, the rungs: fa2 again and again, each time faster by one idea.
 *
 *     loops        loops over queries, of which the compiler makes vector instructions
 *     polynomial   2^x by a polynomial, so that softmax is made of vectors too
 *     registers    four rows of sums stay in vector registers
 *     block        so many sums in registers that the processor never waits for one; vector 2^x
 *     skip         causal order: the tiles that it hides are skipped
 *     overlap      softmax among the products: the maximum may lag behind
 *     threads      all cores, the longest rows first
 *
 * They know batch, heads and scale, from skip on causal order too, and no other option. All are
 * attention_steps; of the tile size they take Bc, the keys of a tile. A tile of queries is as large as
 * their registers want it.
 */
#ifndef FLASH_TILED_RUNGS_H
#define FLASH_TILED_RUNGS_H

#include "05_flash_tiled_cpu/steps/steps.h"

attention_step loops, polynomial, registers, block, skip, overlap, threads;

#endif
