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
 * Of one head, without key masks, from i and j of the parts. Causal offset and window are the
 * text's.
 */
struct block {
    size_t i, j;
    struct attention p;
};

enum { BLOCKS = 8 };
size_t blocks_of(const struct attention *whole, const struct part *queries, const struct part *keys,
                 struct block found[BLOCKS]);

#endif
