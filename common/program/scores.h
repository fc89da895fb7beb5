/*
 * The input of chapters 01 to 03: rows of scores to take the softmax of, from a file, made up, or
 * the course's own; and a softmax of one row put to all of them.
 */
#ifndef COMMON_SCORES_H
#define COMMON_SCORES_H

#include "common/program/options.h"

#include <stddef.h>

struct scores {
    float *x;  // (rows, cols)
    union {
        struct {
            size_t rows, cols;
        };
        size_t shape[2];  // the same two
    };
    int dims;          // of the array that they came in: 1 or 2
    char origin[300];  // where they come from, to be printed
};

/*
 * The command line's scores: --input, or --rows and --cols normal numbers, or
 * common/data/scores.npy. Exits with EXIT_USAGE if there are none.
 */
struct scores scores_load(const struct options *options);
struct scores scores_random(size_t rows, size_t cols, uint64_t seed);
void scores_free(struct scores *scores);

/* A softmax of one row: y = softmax(x), n elements each. */
typedef void softmax_row(const float *x, float *y, size_t n);

/* Poisons y (rows, cols) and puts `softmax` to every row. */
void scores_each_row(const struct scores *scores, softmax_row *softmax, float *y);

/* Has y written to --output by report_close, if there is one, in the shape of the input. */
void scores_write(const struct options *options, const struct scores *scores, const float *y);

#endif
