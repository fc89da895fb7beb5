/* A case's input, and the comparison of its output; see common/classroom/pages/grading.md. */
#ifndef CLASSROOM_JUDGE_H
#define CLASSROOM_JUDGE_H

#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Which arrays go in and out; kernels are forward passes. */
enum kind { OF_ROWS, OF_MERGE, OF_SHARE, OF_DSINK, OF_FORWARD, OF_SINK, OF_PRODUCT, OF_BACKWARD };

/* Is its input one array of rows? */
static inline bool is_of_rows(enum kind kind)
{
    return kind <= OF_DSINK;
}

/* Special values of a case. */
enum special { ORDINARY, WITH_MINUS_INF, ONLY_MINUS_INF, WITH_NAN, WITH_PLUS_INF, TINY_WEIGHTS };

struct numbers {
    float spread, shift;  // of normal numbers; 0: the usual spread
    enum special special;
    bool hidden;  // some keys are masked, and NaN
};

/* Writes a case to in/, as .npy files; the options have shape and seed. */
void input_write(enum kind kind, const struct numbers *numbers, const struct options *options);

#endif
