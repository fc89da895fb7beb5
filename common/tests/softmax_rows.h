/*
 * What the tests of chapters 01 to 03 have in common: a softmax of one row held against the
 * reference, and its accesses against its formula.
 */
#ifndef COMMON_TESTS_SOFTMAX_ROWS_H
#define COMMON_TESTS_SOFTMAX_ROWS_H

#include "common/program/scores.h"

/* Takes the softmax of x into poisoned memory and demands the reference's answer, within reason. */
void assert_softmax(softmax_row *softmax, const char *what, const float *x, size_t n);

/* The same for n normal numbers, times `spread`, plus `shift`; and for all sizes of the course. */
void assert_softmax_random(softmax_row *softmax, size_t n, float spread, float shift);
void assert_softmax_at_every_size(softmax_row *softmax, float spread);

/* It can write over its input, and writes its row and nothing beside it. */
void assert_softmax_in_place(softmax_row *softmax);
void assert_softmax_stays_in_its_row(softmax_row *softmax);

/*
 * The watched build of a softmax (watch.h): for rows of 1 to 300, and some up to 5000, it makes `loads` loads of each
 * element of x and one store of each of y, and no other accesses.
 */
void assert_softmax_accesses(softmax_row *watched, size_t loads);

/* softmax([1 2 3 4]) = [0.0321 0.0871 0.2369 0.6439]. */
void assert_softmax_worked_numbers(softmax_row *softmax);

#endif
