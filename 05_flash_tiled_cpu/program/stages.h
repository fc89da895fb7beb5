/*
 * Running a step, and holding it against the reference and the stage before.
 */
#ifndef FLASH_TILED_STAGES_H
#define FLASH_TILED_STAGES_H

#include "05_flash_tiled_cpu/program/chapter.h"
#include "common/check/attention_check.h"
#include "common/program/options.h"

/* The option that the step lacks for this problem, as it is written on the command line; or NULL. */
const char *step_lacks(const struct step *step, const struct attention *p);

/* The tiles that the command line asks for; what it leaves open suits the step. */
struct tile_size step_size(const struct step *step, const struct options *options, size_t d);

struct result {
    float *O, *lse;
};

/* Runs the step into poisoned memory. */
struct result step_run(const struct step *step, const struct attention_input *input,
                       struct tile_size size);
void result_free(struct result *r);

/* How a step compares, and what it is compared with. */
struct verdict {
    struct attention_errors errors;
    const char *before;  // the stage before
};

/*
 * Compares the result of a step. The stage before is the nearest earlier one that can do the
 * problem, or chapter 04 where no --kernel was chosen: it is run too. `tell` says whether the part
 * "Compared with" is printed.
 */
struct verdict step_check(const struct step *step, const struct attention_input *input,
                          const struct attention_check *check, const struct options *options,
                          const struct result *r, bool tell);

#endif
