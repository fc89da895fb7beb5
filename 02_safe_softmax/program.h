#ifndef SAFE_SOFTMAX_PROGRAM_H
#define SAFE_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* For --trace; n <= SCORES_TRACE. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* Prints the range of the row sums l. */
void show_input(const struct scores *scores);

/* Counts finite rows of chapters 01 and 02 on scaled and shifted scores. */
void show_repair(const struct scores *scores);

#endif
