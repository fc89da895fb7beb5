/* The command line's attention problem: from files, random, or the course's own. */
#ifndef COMMON_ATTENTION_LOAD_H
#define COMMON_ATTENTION_LOAD_H

#include "common/files/npy.h"
#include "common/problem/attention_input.h"
#include "common/program/options.h"

/*
 * Exits, naming the option or the file, if a score could exceed `most`, for example because float32
 * cannot hold it.
 */
void attention_expect_scores(const struct attention_input *input, const struct options *options,
                             double most);

/*
 * The problem of the command line, with its options: --q, --k and --v, or normally distributed
 * numbers in the shape of --batch, --heads, …, or common/data/{q,k,v,key_mask}.npy. Exits with
 * EXIT_USAGE if the shapes are inconsistent.
 */
struct attention_input attention_input_load(const struct options *options);

/*
 * The gradient of the loss with respect to O, for chapter 07: --do, or normally distributed numbers
 * in Q's shape; free() it. Exits with EXIT_USAGE if the file's shape is not that of Q.
 */
float *attention_input_dO(const struct attention_input *input, const struct options *options);

/*
 * The same problem for a program that holds only a part of it: its shape and options, and where to
 * find the numbers. Its mask is not in p.
 */
enum source { SOURCE_Q, SOURCE_K, SOURCE_V, SOURCE_DO, SOURCE_MASK, SOURCES };
struct attention_source {
    struct attention p;
    int dims;
    uint64_t seed;
    struct npy_parts of[SOURCES];  // what is not in a file is generated; then there is no mask
    const char *path[SOURCES];
};
struct attention_source attention_source_open(const struct options *options);
void attention_source_close(struct attention_source *s);

/* Elements first … first + count - 1 of Q, K, V or dO, and of the mask. */
void attention_source_floats(const struct attention_source *s, enum source which, size_t first,
                             size_t count, float *x);
void attention_source_mask(const struct attention_source *s, size_t first, size_t count,
                           uint8_t *mask);

#endif
