/* The command line's attention problem: from files, random, or the course's own; and its output. */
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

/* report_close writes O to --output and lse to --lse, if they are given. */
void attention_write(const struct options *options, const struct attention_input *input,
                     const float *O, const float *lse);

/* The same for the gradients: dQ to --dq, dK to --dk, dV to --dv. */
void attention_write_gradients(const struct options *options, const struct attention_input *input,
                               const float *dQ, const float *dK, const float *dV);

// ---- attention_files.c, for attention_load.c ----------------------------------------------------

/* The numbers and shapes of Q, K and V, without options; and the course's own input. */
struct attention_input attention_files(const char *q, const char *k, const char *v);
struct attention_input attention_usual(void);

/* The mask of that file; and that of --block-mask, whose band needs the alignment. */
void attention_take_key_mask(struct attention_input *input, const char *path);
void attention_take_block_mask(struct attention_input *input, const struct options *options);

/*
 * Exits, naming --scale or the file, if a score could exceed 1e8, or what float32 can hold if
 * softcap limits it.
 */
void attention_expect_scores(const struct attention_input *input, const struct options *options);

/* Rounds Q, K and V to p.dtype. */
void attention_round(struct attention_input *input);

#endif
