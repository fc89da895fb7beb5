#ifndef ONLINE_SOFTMAX_PROGRAM_H
#define ONLINE_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* For --trace. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* With how often the recurrence rescales, and every row merged from blocks. */
void show_input(const struct scores *scores);

#endif
