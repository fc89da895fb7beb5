/*
 * Judges the arrays that a user's own attention wrote, and looks for the cause of a wrong one:
 * attention with each of the usual mistakes is computed for some rows, and the verdict of
 * tolerance.h decides whether the result is that.
 */
#ifndef COMMON_DOCTOR_H
#define COMMON_DOCTOR_H

#include "common/check/output.h"
#include "common/problem/attention_input.h"

#include <stdbool.h>
#include <stdio.h>

enum result { RESULT_O, RESULT_LSE, RESULT_DQ, RESULT_DK, RESULT_DV, RESULTS };

struct doctor {
    struct attention_input *in;                  // 16-bit results round Q, K and V
    const float *dO;                             // for gradients
    const float *got[RESULTS], *stage[RESULTS];  // the user's; a stage's, to print; NULL: not given
    bool has_dtype;  // in->p.dtype was asked for; otherwise it is recognised in the arrays
};

/* The name and shape of a result, without its right values. */
struct output doctor_output(const struct doctor *x, enum result of);

/*
 * Judges all results that are given; explained[of]: the error in units of what rounding explains,
 * infinite for NaN. Prints the verdicts and the causes unless `to` is NULL, which needs has_dtype.
 * Returns whether all are right.
 */
bool doctor_report(FILE *to, const struct doctor *x, double explained[RESULTS]);

#endif
