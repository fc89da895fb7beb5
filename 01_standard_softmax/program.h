/*
 * story.c: what the program shows of the chapter besides its verdict.
 */
#ifndef STANDARD_SOFTMAX_PROGRAM_H
#define STANDARD_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* One row step by step, for --trace; and three rows. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* The part "Input", with the rows that come out without numbers. */
void show_input(const struct scores *scores);

/* The real scores, scaled until the first row overflows, and shifted until rows underflow. */
void show_breaking(const struct scores *scores);

#endif
