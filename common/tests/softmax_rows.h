/*
 * Shared tests of chapters 01 to 03: the softmax of one row, and its accesses.
 */
#ifndef COMMON_TESTS_SOFTMAX_ROWS_H
#define COMMON_TESTS_SOFTMAX_ROWS_H

#include "common/program/scores.h"

/* The softmax of x, into poisoned memory, matches the reference. */
void assert_softmax(softmax_row *softmax, const char *what, const float *x, size_t n);

/* The same for `spread` times n normal numbers plus `shift`; and for all sizes of the course. */
void assert_softmax_random(softmax_row *softmax, size_t n, float spread, float shift);
void assert_softmax_at_every_size(softmax_row *softmax, float spread);

/* It can work in place, and writes only its row. */
void assert_softmax_in_place(softmax_row *softmax);
void assert_softmax_stays_in_its_row(softmax_row *softmax);

/*
 * The watched build (watch.h), for rows of 1 to 300 and some up to 5000: `loads` loads of each
 * element of x, one store to each of y, and no other access.
 */
void assert_softmax_accesses(softmax_row *watched, size_t loads);

void assert_softmax_worked_numbers(softmax_row *softmax);

#endif
