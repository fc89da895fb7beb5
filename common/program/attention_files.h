/*
 * What is not random of the problem of the command line: arrays in files, masks, other types.
 * Unexpected contents of a file end the program with EXIT_USAGE.
 */
#ifndef COMMON_ATTENTION_FILES_H
#define COMMON_ATTENTION_FILES_H

#include "common/problem/attention_input.h"
#include "common/program/options.h"

/* The numbers and shapes of Q, K and V, without options; and the course's own input. */
struct attention_input attention_files(const char *q, const char *k, const char *v);
struct attention_input attention_usual(void);

/*
 * Takes the mask of that file; and the one named by --block-mask, whose band depends on the
 * alignment set before.
 */
void attention_take_key_mask(struct attention_input *input, const char *path);
void attention_take_block_mask(struct attention_input *input, const struct options *options);

/* Rounds Q, K and V to p.dtype. */
void attention_round(struct attention_input *input);

/* report_close writes O to --output and lse to --lse, if they are given. */
void attention_write(const struct options *options, const struct attention_input *input,
                     const float *O, const float *lse);

/* The same for the gradients: dQ to --dq, dK to --dk, dV to --dv. */
void attention_write_gradients(const struct options *options, const struct attention_input *input,
                               const float *dQ, const float *dK, const float *dV);

#endif
