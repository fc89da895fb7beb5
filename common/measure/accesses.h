/* Accesses to slow memory, by array: predicted by a formula, and counted (traffic.h). */
#ifndef COMMON_ACCESSES_H
#define COMMON_ACCESSES_H

#include "common/problem/attention_input.h"

#include <stdbool.h>
#include <stddef.h>

/* A line of the table: counted, and predicted. */
struct counted {
    const char *what;  // "x loads"
    size_t count;
    size_t predicted;
    const char *formula;  // "2 N"
    const char *note;     // a note, or ""
};

enum { ACCESS_LINES = 20 };

/* A step's predictions for a problem. */
struct accesses {
    size_t n;
    struct counted line[ACCESS_LINES];
    struct tile_counts tiles;
    size_t splits;    // of the keys, each tiled separately
    size_t products;  // floating-point operations of matrix products
};

/* Adds the line `what` ("Q loads") with the predicted count `n`; `formula` is per head. */
void accesses_add(struct accesses *a, const char *what, size_t n, const char *formula);

/*
 * Fills in the counts, and adds a last line: all accesses to instrumented arrays, which the lines
 * before should add up to. Returns whether every line is as predicted.
 */
bool accesses_sum(struct accesses *a, const char *formula, size_t *total);

#endif
