/* The command line's attention problem: from files, random, or the course's own. */
#ifndef COMMON_ATTENTION_LOAD_H
#define COMMON_ATTENTION_LOAD_H

#include "common/problem/attention_input.h"
#include "common/program/options.h"

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

#endif
