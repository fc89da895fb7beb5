/*
 * Is the output of an attention right? It is held against the double precision reference and
 * against the stage before, all of it or, where that would take too long, 64 rows drawn by seed.
 */
#ifndef COMMON_ATTENTION_CHECK_H
#define COMMON_ATTENTION_CHECK_H

#include "common/check/tolerance.h"
#include "common/problem/attention_input.h"

#include <stdbool.h>
#include <stddef.h>

/* Some rows of a result: which, and what the reference and the textbook have for them. */
struct attention_check {
    size_t shape[4];           // of O: (B, H, Nq, d)
    size_t count;              // of rows
    size_t *rows;              // (b H + h) Nq + i of each
    double *values;            // (B, H): the usual size of a head's values
    double *right, *lse;       // (count, d) and (count): the reference
    float *plain, *plain_lse;  // the same from the textbook in float32
    const char *other_name;    // another stage that O is held against, or NULL …
    const float *other;        // … and its O: (count, d)
};

/* How many rows a large problem is checked at, unless all are asked for. */
enum { ATTENTION_CHECK_ROWS = 64 };

/* Above this many multiply-adds not every row is checked. */
static const double ATTENTION_CHECK_ALL = 4e9;

/* Works out what is right: for all rows if they are few or `all` is true, else for some. */
struct attention_check attention_check_begin(const struct attention_input *input, bool all);
void attention_check_end(struct attention_check *check);

/*
 * O against the reference: of the heads the worst, each by its own allowance. O is the checked rows,
 * in their order: (count, d).
 */
struct comparison attention_check_output(const struct attention_check *check,
                                         const struct attention *p, const float *O);

/* The largest errors of a result, NaN if one is no number, and whether they are small enough. */
struct attention_errors {
    double reference, other, previous;
    bool has_previous;  // there was a stage before that can do at least one head
    bool right;
};

/* Of each comparison the worst head, each head by its own allowance. */
struct attention_verdict {
    struct comparison reference, lse, other, previous;  // `with` is NULL where there is none
    size_t left_out;                                    // rows that the stage before cannot do
    bool right;
    double *wide, *wide_other;  // the stages in double
};

/*
 * O and lse are the checked rows, in their order: (count, d), (count); lse may be NULL. `before`, unless it is
 * NULL, has O from the stage called `name`; a head that still holds the poison, or is wrong, is one that this
 * stage cannot do.
 */
struct attention_verdict attention_verdict_of(const struct attention_check *check,
                                              const struct attention *p, const float *O,
                                              const float *lse, const char *name,
                                              const float *before);

/* Frees what belongs to the verdict; what remains of it are the errors. */
struct attention_errors attention_verdict_end(struct attention_verdict *v);

/* Both at once, where nothing is printed: for tables with a line for each of several stages. */
struct attention_errors attention_check_errors(const struct attention_check *check,
                                               const struct attention *p, const float *O,
                                               const float *lse, const float *before);

/* The checked rows of a whole result with `length` elements a row; free() them. */
float *attention_check_rows(const struct attention_check *check, const float *whole, size_t length);

#endif
