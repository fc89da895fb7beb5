/*
 * The parts of chapter 05's program: its steps, and what its main calls besides the lab
 * (common/lab/lab.h).
 */
#ifndef FLASH_TILED_PROGRAM_H
#define FLASH_TILED_PROGRAM_H

#include "common/lab/lab.h"

/* steps.c: the steps, in order, and the chapter's description. */
extern const struct step_table table;
extern const struct chapter chapter;

/* What the first step is compared with: chapter 04's rows, for problems that it supports. */
struct previous chapter_04(const struct lab *lab);

/* The step in plain C that visits the same tiles as complete. */
const char *in_plain_c(const struct attention *p);

/* predict.c: a step's accesses by their formulas, with its tiles. */
void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_block_matmul(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_masks(const struct attention *p, struct tile_size size, struct accesses *a);
void predict_split_kv(const struct attention *p, struct tile_size size, struct accesses *a);

/* Only the tiles: complete is vectorised, and splits the keys as split_kv does. */
void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a);

/*
 * story.c: what `make 05` shows before its input, the steps run by run_steps; and what --story
 * prints, with its exit status.
 */
void tell_screen(void (*run_steps)(struct lab *lab));
int tell_part(const struct options *options);

/* Largest error in O when ALiBi is folded into two extra columns of Q and K. */
double story_error_of_bias(void);

#endif
