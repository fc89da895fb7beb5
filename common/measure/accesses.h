/*
 * Accesses to slow memory, array by array: what an algorithm's formula gives, and what the counter saw (traffic.h).
 */
#ifndef COMMON_ACCESSES_H
#define COMMON_ACCESSES_H

#include "common/problem/attention_input.h"

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

#endif
