/*
 * Is the output of an attention right? It is held against the double precision reference and
 * against the stage before: all of it or, where that would take too long, some rows of every head.
 */
#ifndef COMMON_ATTENTION_CHECK_H
#define COMMON_ATTENTION_CHECK_H

#include "common/check/tolerance.h"
#include "common/problem/attention_input.h"

#include <stdbool.h>
#include <stddef.h>

/* Some rows of a result: which, and what they should be. */
struct attention_check {
    size_t shape[4];         // of O: (B, H, Nq, d)
    size_t count;            // of rows
    size_t *rows;            // (b H + h) Nq + i of each, in order
    struct exact *O, *lse;   // (count, d) and (count)
    const char *other_name;  // another stage that O is held against, or NULL …
    const float *other;      // … and its O: (count, d)
};

/* Above this many multiply-adds not every row is checked. */
static const double ATTENTION_CHECK_ALL = 4e9;

/*
 * Works out what is right: for all rows if they are few or `all` is true. Else for 64 rows or more: first of each head
 * its first row, then its last, then one that is drawn, as long as they fit into a tenth of that many multiply-adds.
 */
struct attention_check attention_check_begin(const struct attention_input *input, bool all);
void attention_check_end(struct attention_check *check);

/* O against the reference: of the heads the worst. O is the checked rows, in their order: (count, d). */
struct comparison attention_check_output(const struct attention_check *check, const float *O);

/* The largest errors of a result, NaN if one is no number, and whether they are small enough. */
struct attention_errors {
    double reference, other, previous;
    bool has_previous;  // there was a stage before that can do at least one head
    bool right;
};

/* Of each comparison the worst head. */
struct attention_verdict {
    struct comparison reference, lse, other, previous;  // `with` is NULL where there is none
    size_t left_out;                                    // rows that the stage before cannot do
    bool right;
    struct exact *from_other, *from_previous;  // what those stages lead us to expect
};

/*
 * O and lse are the checked rows, in their order: (count, d), (count); lse may be NULL. `before`, unless it is
 * NULL, has O from the stage called `name`; a head that still holds the poison, or is wrong, is one that this
 * stage cannot do.
 */
struct attention_verdict attention_verdict_of(const struct attention_check *check, const float *O,
                                              const float *lse, const char *name,
                                              const float *before);

/* Frees what belongs to the verdict; what remains of it are the errors. */
struct attention_errors attention_verdict_end(struct attention_verdict *v);

/* Both at once, where nothing is printed: for tables with a line for each of several stages. */
struct attention_errors attention_check_errors(const struct attention_check *check, const float *O,
                                               const float *lse, const float *before);

/* The rows that are checked of `heads` heads of N rows, in order: all of them if count is their number. free() them. */
size_t *attention_check_choose(size_t heads, size_t N, size_t count);

/* How many those are, where one row of a result takes so many multiply-adds to check. */
size_t attention_check_count(size_t heads, size_t N, double of_row, bool all);

/* The checked rows of a whole result with `length` elements a row; free() them. */
float *attention_check_rows(const struct attention_check *check, const float *whole, size_t length);

#endif
