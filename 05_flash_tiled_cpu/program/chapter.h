/*
 * Chapter 05 as a program: its table of steps, and what one step did when it was counted.
 */
#ifndef FLASH_TILED_CHAPTER_H
#define FLASH_TILED_CHAPTER_H

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/problem/attention_input.h"
#include "common/program/report.h"
#include "common/program/step.h"

#include <stdbool.h>

/* A step of this chapter is a C function. Those in vectors have no watched build (watch.h). */
struct runs {
    attention_step *run, *watched;
};

enum step_name {
#define STEP(constant, name, ...) constant,
#include "05_flash_tiled_cpu/steps/table.h"
#undef STEP
    STEPS
};
extern const struct step steps[STEPS];
extern const struct step_table table;

/* Can the accesses of the step be counted, and is the problem small enough for it? */
bool is_small(const struct attention *p);
bool can_be_counted(const struct step *step, const struct attention *p);

/* Runs the watched step on the input, with its output thrown away. */
struct count count_step(const struct step *step, const struct attention_input *input,
                        struct tile_size size);

/* The predictions, one for each way of going through the tiles. */
void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_block_matmul(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_masks(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_split_kv(const struct attention *p, struct tile_size size, struct accesses *a);

/* The tiles of each enum tile_kind that all heads have, and the keys in those not skipped. */
struct tile_counts {
    size_t of_kind[3], keys;
};
struct tile_counts count_tiles(const struct attention *p, struct tile_size size);

/* The same where the keys are first cut in splits (split_kv.h), and each part in tiles. */
struct tile_counts count_tiles_in_splits(const struct attention *p, struct tile_size size,
                                         size_t count);

#endif
