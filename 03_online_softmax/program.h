#ifndef ONLINE_SOFTMAX_PROGRAM_H
#define ONLINE_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* For --trace; n <= SCORES_TRACE. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* Counts rises of the maximum; checks merged blocks of every row. */
void show_input(const struct scores *scores);

#endif
