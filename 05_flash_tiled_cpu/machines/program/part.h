#ifndef MACHINES_PART_H
#define MACHINES_PART_H

#include "common/problem/attention.h"

struct chunk {
    size_t first, count;
};

/*
 * Rank r has chunks r and 2 R - 1 - r of 2 R, one with few causal pairs and one with many. A chunk
 * may be empty.
 */
struct part {
    struct chunk of[2];
    size_t rows;
};
struct part part_of(size_t n, size_t rank, size_t ranks);

size_t part_max_rows(size_t n, size_t ranks);

/*
 * A problem of one head: queries from row i and keys from row j of two parts, with the text's
 * causal mask and window, but no key mask.
 */
struct block {
    size_t i, j;
    struct attention p;
};

/* The blocks with unmasked pairs. */
enum { BLOCKS = 8 };
size_t blocks_of(const struct attention *whole, const struct part *queries, const struct part *keys,
                 struct block found[BLOCKS]);

#endif
