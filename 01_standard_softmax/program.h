#ifndef STANDARD_SOFTMAX_PROGRAM_H
#define STANDARD_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* For --trace; n <= SCORES_TRACE. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* Prints the range of x; counts rows of y that are not finite. Overwrites y. */
void show_input(const struct scores *scores);

/* Scales the scores until a row overflows; then subtracts 200. */
void show_breaking(const struct scores *scores);

#endif
