/*
 * Between the files of attention_load.h.
 */
#ifndef COMMON_ATTENTION_PARTS_H
#define COMMON_ATTENTION_PARTS_H

#include "common/program/attention_files.h"
#include "common/program/attention_load.h"

/* Is the input to be generated; its shape; and the options for its scores, without masks. */
bool attention_is_shaped(const struct options *options);
struct attention attention_shape(const struct options *options);
void attention_take_options(struct attention *p, const struct options *options);

/* The course's own input. */
struct attention_input attention_usual(void);

/*
 * Takes the mask of that file; and the one named by --block-mask, whose band depends on the
 * alignment set before.
 */
void attention_take_key_mask(struct attention_input *input, const char *path);
void attention_take_block_mask(struct attention_input *input, const struct options *options);

/* Rounds Q, K and V to p.dtype. */
void attention_round(struct attention_input *input);

/* Exits unless dO has the shape of Q. */
void attention_check_dO(const struct attention_array *dO, const struct attention *p, int dims,
                        const struct options *options);

#endif
