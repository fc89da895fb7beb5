/*
 * Running a step, and holding it against the reference and the stage before.
 */
#ifndef FLASH_TILED_STAGES_H
#define FLASH_TILED_STAGES_H

#include "05_flash_tiled_cpu/program/chapter.h"
#include "common/check/attention_check.h"
#include "common/program/options.h"

struct result {
    float *O, *lse;
};

/* Runs the step into poisoned memory. */
struct result step_run(const struct step *step, const struct attention_input *input,
                       struct tile_size size);
void result_free(struct result *r);

/* What a result is compared with besides the reference: an earlier step's O, or chapter 04's. */
struct previous {
    const char *name;
    float *rows;  // of its O, those that are checked; NULL: it cannot do the problem
};

/* The nearest earlier step that supports the problem and writes lse; NULL: there is none. */
const struct step *step_before(const struct step *step, const struct attention *p);

/* Runs that step, or, where `step` is NULL, chapter 04; or keeps a result that there is. Free it with previous_free. */
struct previous previous_run(const struct step *step, const struct attention_input *input,
                             const struct attention_check *check, const struct options *options);
struct previous previous_keep(const struct step *step, const struct attention_input *input,
                              const struct attention_check *check, const struct result *r);
void previous_free(struct previous *previous);

/* Compares the result of a step. `tell` says whether the part "Compared with" is printed. */
struct attention_errors step_check(const struct step *step, const struct attention_input *input,
                                   const struct attention_check *check,
                                   const struct previous *previous, const struct result *r,
                                   bool tell);

#endif
