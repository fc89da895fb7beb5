#ifndef STANDARD_SOFTMAX_PROGRAM_H
#define STANDARD_SOFTMAX_PROGRAM_H

#include "common/program/scores.h"

/* For --trace. */
void show_row(const float *x, size_t n);
void show_examples(void);

/* With the rows that come out without numbers. */
void show_input(const struct scores *scores);

/* Scales the scores until a row overflows; shifts them until rows underflow. */
void show_breaking(const struct scores *scores);

#endif
