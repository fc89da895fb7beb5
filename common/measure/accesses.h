/*
 * Accesses to slow memory, array by array: what the counter saw (traffic.h), and what an algorithm's
 * formula gives.
 */
#ifndef COMMON_ACCESSES_H
#define COMMON_ACCESSES_H

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

/* How many tiles of `size` cover n, which is at least 1: what most formulas are made of. */
static inline size_t ceil_div(size_t n, size_t size)
{
    return (n - 1) / size + 1;
}

enum { ACCESS_LINES = 20 };

struct accesses {
    size_t n;
    struct counted line[ACCESS_LINES];
};

/* One line: "Q loads" should be `n`, which is `formula` for each head. */
void accesses_add(struct accesses *a, const char *what, size_t n, const char *formula);

/*
 * The last line: all accesses, of every array that is instrumented, which the lines before should add up to.
 * Returns whether every line is as it should be.
 */
bool accesses_sum(struct accesses *a, const char *formula, size_t *total);

#endif
