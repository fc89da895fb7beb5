/*
 * The input of a case, and whether an output is right for it. common/classroom/pages/grading.md tells what is graded.
 */
#ifndef CLASSROOM_JUDGE_H
#define CLASSROOM_JUDGE_H

#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Which arrays go in and come out; kernels are forward passes too. `programs` has the names. */
enum kind { OF_ROWS, OF_MERGE, OF_SHARE, OF_DSINK, OF_FORWARD, OF_SINK, OF_PRODUCT, OF_BACKWARD };

/* Is its input no attention, but one array of rows? */
static inline bool is_of_rows(enum kind kind)
{
    return kind <= OF_DSINK;
}

/* What numbers a case has besides normal ones. */
enum special { ORDINARY, WITH_MINUS_INF, ONLY_MINUS_INF, WITH_NAN, WITH_PLUS_INF, TINY_WEIGHTS };

struct numbers {
    float spread, shift;  // of normal numbers: 0 is the usual spread
    enum special special;
    bool hidden;  // some keys are masked, and hold NaN
};

/* Writes a case to in/, as .npy files. The options hold its shape and its seed. */
void input_write(enum kind kind, const struct numbers *numbers, const struct options *options);

#endif
