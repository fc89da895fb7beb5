/*
 * Between the files of step.h.
 */
#ifndef COMMON_STEP_PARTS_H
#define COMMON_STEP_PARTS_H

#include "common/program/step.h"

/* " 3", or blanks where the step has no number. */
void step_number(const struct step_table *table, const struct step *step, char text[16]);

/* The d that the step takes in this type. */
const struct dims *step_dims(const struct step *step, enum dtype type);

/* NULL, or "d = 40 (d is 64 or 128)". */
const char *step_unsupported_d(const struct step *step, const struct attention *p);

/* Ends the program: the step does not support this. */
_Noreturn void step_refuse(const struct step *step, const struct attention *p,
                           const struct options *options, const char *unsupported);

#endif
