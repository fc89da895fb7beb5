#ifndef SAFE_SOFTMAX_PROGRAM_H
#define SAFE_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* For --trace. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* With the range of the row sums. */
void show_input(const struct scores *scores);

/* The real scores on which chapter 01 fails. */
void show_repair(const struct scores *scores);

#endif
