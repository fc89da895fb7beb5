/*
 * story.c: what the program shows of the chapter besides its verdict.
 */
#ifndef SAFE_SOFTMAX_PROGRAM_H
#define SAFE_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* One row step by step, for --trace; and three rows. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* The part "Input", with the range of the row sums. */
void show_input(const struct scores *scores);

/* What broke chapter 01 on the real scores, and does not break this one. */
void show_repair(const struct scores *scores);

#endif
