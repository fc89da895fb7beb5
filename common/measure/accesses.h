/*
 * Accesses to slow memory, array by array: what an algorithm's formula gives, and what the counter saw (traffic.h).
 */
#ifndef COMMON_ACCESSES_H
#define COMMON_ACCESSES_H

#include "common/problem/attention.h"

#include <stdbool.h>
#include <stddef.h>

/* One line of a table of accesses: what the counter saw, and what the formula gives. */
struct counted {
    const char *what;  // "x loads"
    size_t count;
    size_t predicted;
    const char *formula;  // "2 N"
    const char *note;     // more for this line, or ""
};

enum { ACCESS_LINES = 20 };

/* The tiles of each enum tile_kind that all heads have; and of those that are not skipped the queries, the keys and the pairs. */
struct tile_counts {
    size_t of_kind[3], queries, keys, pairs;
};

/* What a step's formulas say of a problem. */
struct accesses {
    size_t n;
    struct counted line[ACCESS_LINES];
    struct tile_counts tiles;
    size_t splits;    // of the keys, each with tiles of its own
    size_t products;  // multiplications and additions of matrix products
};

/* One line: "Q loads" should be `n`, which is `formula` for each head. */
void accesses_add(struct accesses *a, const char *what, size_t n, const char *formula);

/*
 * What has been counted beside each line, and the last line: all accesses, of every array that is instrumented, which the lines
 * before should add up to. Returns whether every line is as it should be.
 */
bool accesses_sum(struct accesses *a, const char *formula, size_t *total);

struct tile_counts count_tiles(const struct attention *p, struct tile_size size);

/* Adds those of the keys `begin` to before `end`, whose first tile begins with them. */
void count_tiles_between(const struct attention *p, struct tile_size size, size_t begin, size_t end,
                         struct tile_counts *counts);

#endif
