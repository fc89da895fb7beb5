/*
 * What chapters 01 to 03 work on, and what their mains call: rows of scores from a file, generated,
 * or the course's own; a softmax applied to each row; its accesses, its result and its speed.
 */
#ifndef COMMON_SCORES_H
#define COMMON_SCORES_H

#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>

struct scores {
    float *x, *y;  // (rows, cols): the input, and the output of a softmax
    union {
        struct {
            size_t rows, cols;
        };
        size_t shape[2];  // the same two
    };
    int dims;          // of the input array: 1 or 2
    char origin[300];  // where they come from, for printing
};

/* A softmax of one row: y = softmax(x), n elements each. */
typedef void softmax_row(const float *x, float *y, size_t n);

/*
 * The command line's scores: --input, or --rows and --cols for normally distributed ones, or
 * common/data/scores.npy. Exits with EXIT_USAGE if there are none.
 */
struct scores scores_load(const struct options *options);
struct scores scores_random(size_t rows, size_t cols, uint64_t seed);

/* The same scores, each times `factor` plus `shift`. */
struct scores scores_changed(const struct scores *scores, float factor, float shift);
void scores_free(struct scores *scores);

/* Poisons y and applies `softmax` to every row. */
void scores_each_row(const struct scores *scores, softmax_row *softmax);

/* report_close will write y to --output, if it is given, in the shape of the input. */
void scores_write(const struct options *options, const struct scores *scores);

// ---- scores_check.c: is it right? ---------------------------------------------------------------

struct summary;  // report.h

/* The part "Trace": `show_row` for every row of at most SCORES_TRACE numbers; more are refused. */
enum { SCORES_TRACE = 64 };
void scores_trace(const struct scores *scores, void (*show_row)(const float *x, size_t n));

/*
 * The part "Counted": a softmax's instrumented build should load every score `loads` times. The
 * note compares other chapters. Returns the accesses; 0 if they are not counted here.
 */
size_t scores_count(const struct scores *scores, softmax_row *watched, size_t loads,
                    const char *note);

/*
 * The part "Compared with": every row of y against the reference and `previous`, named by the
 * summary; shows the worst row of each comparison. Where `previous` itself is wrong, the reference
 * replaces it.
 */
void scores_check(const struct scores *scores, softmax_row *previous, struct summary *summary);

/* How many rows of y have a NaN or an infinity; *first is the first of them. */
size_t scores_not_finite(const struct scores *scores, size_t *first);

/* The largest error of y, and whether rounding explains every error. */
double scores_error(const struct scores *scores, bool *right);

// ---- scores_bench.c: how fast is it? ------------------------------------------------------------

/* --csv: the summary, and how long `softmax` takes for all the rows, at best. */
void scores_csv(const char *path, const struct scores *scores, softmax_row *softmax,
                struct summary summary);

/*
 * The part "Speed" of --bench: a chapter's softmax and its passes in vector instructions; then the previous chapter's two,
 * or NULL. The same figures go to `csv`, unless that is NULL.
 */
enum { SCORES_BENCH = 4 };
void scores_bench(int chapter, size_t loads, softmax_row *const of[SCORES_BENCH], const char *csv);

#endif
