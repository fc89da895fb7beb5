/*
 * What the two tables of `compare` have in common: where a stage's output comes from, and its row.
 */
#ifndef COMMON_TOOLS_COMPARE_H
#define COMMON_TOOLS_COMPARE_H

#include "common/check/tolerance.h"

#include <stdbool.h>
#include <stddef.h>

/* The table of each form. `argv` is the whole command line; returns the exit status. */
int compare_softmax(int argc, char **argv);
int compare_attention(int argc, char **argv);

/*
 * A stage's output from a .npy file, in the input's shape; free() it. Ends the program if the file
 * holds anything else.
 */
float *compare_output(const char *path, int dims, const size_t *shape);

/* The line above the rows; `axes` is "row, column". */
void compare_heading(const char *axes);

/* How far a stage is from the reference, where, and the same from the stage before. */
struct compare_row {
    const char *path;
    bool first;  // there is no stage before
    struct difference error, step;
    const char *error_place, *step_place, *fault_place;
    double fault_got, fault_expected;  // at what is farthest off, for what rounding does there
};

/*
 * Prints the row, with the place of the difference from the stage before, and below a wrong output
 * the element that is wrong. Is the output right?
 */
bool compare_print(const struct compare_row *row);

/* The row of a stage that cannot do what is asked. */
void compare_print_unable(const char *path, const char *reason);

#endif
