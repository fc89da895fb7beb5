/*
 * Running a kernel on a device, and holding it against the reference, chapter 05, and the kernel before.
 */
#ifndef FLASH_TILED_CUDA_STAGES_H
#define FLASH_TILED_CUDA_STAGES_H

#include "06_flash_tiled_cuda/kernels/device/choice.h"
#include "06_flash_tiled_cuda/program/chapter.h"
#include "06_flash_tiled_cuda/program/on_device.h"
#include "common/check/attention_check.h"
#include "common/program/options.h"

struct result {
    float *O, *lse;
};

/* Runs the kernel on the device, into poisoned memory. */
struct result kernel_run(const struct step *kernel, const struct device *device,
                         const struct attention_input *input);
void result_free(struct result *r);

/* As attention_check_begin, with chapter 05's O among what is compared. */
struct attention_check check_begin(const struct attention_input *input, bool all);
void check_end(struct attention_check *check);

/* The nearest earlier kernel that supports the problem on the device; NULL: there is none. */
const struct step *kernel_before(const struct step *kernel, const struct attention *p,
                                 const struct device *device);

/* The O of an earlier kernel, those rows of it that are checked; NULL, NULL: there is none. */
struct previous {
    const char *name;
    float *rows;
};

/* Runs that kernel, unless it is NULL; or keeps a result that there is. Free it with kernel_previous_free. */
struct previous previous_run(const struct step *kernel, const struct device *device,
                             const struct attention_input *input,
                             const struct attention_check *check);
struct previous previous_keep(const struct step *kernel, const struct attention_input *input,
                              const struct attention_check *check, const struct result *r);
void kernel_previous_free(struct previous *previous);

/* How a kernel compares; the stage before is the previous kernel, or, if there is none, chapter 05. */
struct verdict {
    struct attention_errors errors;
    const char *before;
    double previous;  // the largest difference from it
};

/*
 * Compares a kernel's result with the reference, with chapter 05's complete, and with the previous kernel's. `tell` says
 * whether the part "Compared with" is printed.
 */
struct verdict kernel_check(const struct attention_input *input,
                            const struct attention_check *check, const struct previous *previous,
                            const struct result *r, bool tell);

#endif
