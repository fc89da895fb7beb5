/*
 * story.c: what the program shows of the chapter besides its verdict.
 */
#ifndef ONLINE_SOFTMAX_PROGRAM_H
#define ONLINE_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* One row step by step, for --trace; and a row, its blocks merged, and a bad case. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* The part "Input", with how often the recurrence rescales, and every row cut into blocks and merged. */
void show_input(const struct scores *scores);

#endif
