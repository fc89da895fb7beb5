/*
 * What chapters 04 to 07 print of an attention: its input, and whether the output is right.
 */
#ifndef COMMON_ATTENTION_REPORT_H
#define COMMON_ATTENTION_REPORT_H

#include "common/check/attention_check.h"
#include "common/check/gradient_check.h"
#include "common/problem/attention_input.h"

/* The part "Input": where it comes from, its shape, and how many pairs there are. */
void attention_describe(const struct attention_input *input);

/*
 * The part "Compared with": each comparison's worst head. The arguments are those of
 * attention_verdict_of; `name` may be NULL, without an earlier stage.
 */
struct attention_errors attention_check_report(const struct attention_check *check, const float *O,
                                               const float *lse, const char *name,
                                               const float *before);

/*
 * The same for gradients (common/lab/write.c): each of the three with the reference, and with the
 * stage before if there is one.
 */
struct attention_errors gradient_check_report(const struct gradient_check *check,
                                              float *const got[GRADIENTS], const char *name,
                                              float *const before[GRADIENTS]);

#endif
