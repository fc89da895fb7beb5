/*
 * The counted accesses of a softmax of one row, held against its formula and against the machine's.
 */
#ifndef COMMON_TESTS_SOFTMAX_WITNESS_H
#define COMMON_TESTS_SOFTMAX_WITNESS_H

#include "common/program/scores.h"

/*
 * For rows of 1 to 300, and some up to 5000: `counted` has counted `loads` loads of each element of x and one store of
 * each of y, and the instrumented `softmax` has really made as many, and no others.
 */
void assert_accesses(softmax_row *softmax, softmax_row *counted, size_t loads);

#endif
