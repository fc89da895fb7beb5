#ifndef COMMON_TOOLS_COMPARE_H
#define COMMON_TOOLS_COMPARE_H

#include "common/check/tolerance.h"

#include <stdbool.h>
#include <stddef.h>

/* The table of each form. `argv` is the whole command line; returns the exit status. */
int compare_softmax(int argc, char **argv);
int compare_attention(int argc, char **argv);

/* An output from a .npy file, in the input's shape; free() it. Exits if the shape differs. */
float *compare_output(const char *path, int dims, const size_t *shape);

void compare_heading(const char *axes);

/* Where and how far a stage is from the reference and from the previous stage. */
struct compare_row {
    const char *path;
    bool first;  // there is no previous stage
    struct difference error, step;
    const char *error_place, *step_place, *fault_place;
    double fault_got, fault_expected;  // at the largest error relative to rounding
};

/* Prints the row and, below a wrong output, its worst element. Is the output right? */
bool compare_print(const struct compare_row *row);

void compare_print_unable(const char *path, const char *reason);

#endif
