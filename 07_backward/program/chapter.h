/*
 * Chapter 07 as a program: its table of steps, and what one step did when it was counted.
 */
#ifndef BACKWARD_CHAPTER_H
#define BACKWARD_CHAPTER_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "07_backward/kernels/kernels.h"
#include "07_backward/steps/steps.h"
#include "common/problem/attention_input.h"
#include "common/program/report.h"
#include "common/program/step.h"

#include <stdbool.h>

/* A kernel has a launcher for each build. */
struct runs {
    backward_launcher *on[BUILDS];
};

enum step_name {
#define STEP(constant, name, ...) constant,
#include "07_backward/steps/table.h"
#undef STEP
    STEPS
};
extern const struct step steps[STEPS];
extern const struct step_table table;

/* What a forward pass leaves for the backward pass: O and lse, and m and l where fa1 wants them. */
struct kept {
    float *O, *lse, *m, *l;
};

/* Runs chapter 05's forward pass; m and l come from chapter 03's merge. */
struct kept kept_by_forward(const struct attention_input *input);
void kept_free(struct kept *kept);

struct tensors backward_tensors(const struct attention_input *input, const struct kept *kept,
                                const float *dO);

/* Can the accesses of the step be counted, and is the problem small enough for it? */
bool is_small(const struct attention *p);
bool can_be_counted(const struct step *step, const struct attention *p);

/* Runs the watched step on the input, with its output thrown away. */
struct count count_layer(const struct step *step, const struct attention_input *input,
                         const struct kept *kept, const float *dO, struct tile_size size);

/* The predictions, one for each way of going through the pairs. */
void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_recompute(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_split(const struct attention *p, struct tile_size size, struct accesses *a);

/* Multiplications and additions of the step's matrix products. */
size_t products_of(const struct step *step, const struct attention *p, struct tile_size size);

#endif
