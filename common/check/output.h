/*
 * Prints the verdict on one array of doctor.h as a line of a table, and where it is wrong.
 */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "common/check/tolerance.h"

#include <stdio.h>

/* `rows` by `cols` is a head of it; `right` has the expected values. */
struct output {
    const char *name, *axes;
    int dims;
    size_t shape[4];
    size_t rows, cols;
    struct exact *right;
    const float *x, *stage;  // a stage's x, to print the difference; or NULL
};

/* Several heads in a row: the worst of them, with indices into the whole. */
struct difference difference_between_heads(const float *got, const struct exact *expected,
                                           size_t heads, size_t rows, size_t cols);

size_t output_size(const struct output *o);

struct difference output_difference(const struct output *o);

/* The type with fewest digits that holds all n numbers; DTYPES if they are equal. */
enum dtype output_dtype(const float *x, size_t n);
const char *dtype_words(enum dtype type);

/* Prints the table's heading. */
void output_heading(FILE *to, bool has_stage);

/* Prints o's line and, if it is wrong, the element that is farthest off. */
void output_print(FILE *to, const struct output *o, const struct difference *d, bool has_stage);

/* Prints the first wrong element, and which rows and columns of its head are wrong. */
void output_print_first(FILE *to, const struct output *o);

#endif
