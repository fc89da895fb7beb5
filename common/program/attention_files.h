/*
 * The arrays of an attention problem in files. Unexpected contents end the program with EXIT_USAGE.
 */
#ifndef COMMON_ATTENTION_FILES_H
#define COMMON_ATTENTION_FILES_H

#include "common/files/npy.h"
#include "common/problem/attention_input.h"
#include "common/program/options.h"

/* An array of numbers with 2 to 4 dimensions, its shape filled up with ones at the front. */
struct attention_array {
    const char *path;
    int dims;
    size_t shape[4];
    float *x;
};
struct attention_array attention_array_read(const char *path);

/* The same without its numbers, of which parts can then be read; x is NULL. */
struct attention_array attention_array_open(const char *path, struct npy_parts *parts);

/* The problem with the shapes of Q, K and V, without options; and with their numbers. */
struct attention attention_of_arrays(const struct attention_array *Q,
                                     const struct attention_array *K,
                                     const struct attention_array *V);
struct attention_input attention_files(const char *q, const char *k, const char *v);

/* A mask of this shape, which is also called `meaning`. */
uint8_t *attention_mask_read(const char *path, size_t rows, size_t columns, const char *meaning);
void attention_mask_open(const char *path, size_t rows, size_t columns, const char *meaning,
                         struct npy_parts *parts);

/* report_close writes O to --output and lse to --lse, if they are given. */
void attention_write(const struct options *options, const struct attention_input *input,
                     const float *O, const float *lse);

/* The same for the gradients: dQ to --dq, dK to --dk, dV to --dv. */
void attention_write_gradients(const struct options *options, const struct attention_input *input,
                               const float *dQ, const float *dK, const float *dV);

#endif
