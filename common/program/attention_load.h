/*
 * The attention problem that the command line asks for: from files, made up, or the course's own.
 */
#ifndef COMMON_ATTENTION_LOAD_H
#define COMMON_ATTENTION_LOAD_H

#include "common/problem/attention_input.h"
#include "common/program/options.h"

/*
 * The problem that the command line asks for, its options included: --q, --k and --v, or normal
 * numbers in the shape of --batch, --heads, …, or common/data/{q,k,v,key_mask}.npy. Ends the
 * program with EXIT_USAGE if shapes do not fit together.
 */
struct attention_input attention_input_load(const struct options *options);

/*
 * The gradient of the loss by O, for chapter 07: --do, or normal numbers in Q's shape; free() it. Ends the
 * program with EXIT_USAGE if the file's shape is not that of Q.
 */
float *attention_input_dO(const struct attention_input *input, const struct options *options);

#endif
