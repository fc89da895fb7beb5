/*
 * Which rows of a text each machine has, and which of their pairs count.
 */
#ifndef MACHINES_PART_H
#define MACHINES_PART_H

#include "common/problem/attention.h"

/* Rows first … first + count - 1 of the text. */
struct chunk {
    size_t first, count;
};

/*
 * What one rank has. The text is cut into 2 R chunks, and rank r has chunks r and 2 R - 1 - r, one after the other: in causal
 * order the first has few pairs and the second many, and all ranks have the same work. A chunk may be empty.
 */
struct part {
    struct chunk of[2];
    size_t rows;
};
struct part part_of(size_t n, size_t rank, size_t ranks);

/* The most rows that any rank has. */
size_t part_most(size_t n, size_t ranks);

/*
 * A block of pairs as a problem of its own, of one head, without masks of single keys: queries i … and keys j … of two parts,
 * counted from the parts' beginnings. The offset of its causal order and its window is that of the whole text.
 */
struct block {
    size_t i, j;
    struct attention p;
};

/* All blocks of the parts in which some query attends to some key. */
enum { BLOCKS = 8 };
size_t blocks_of(const struct attention *whole, const struct part *queries, const struct part *keys,
                 struct block found[BLOCKS]);

#endif
