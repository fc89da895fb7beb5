/*
 * Running a kernel on a device, and holding it against the reference, chapter 05, and the kernel before.
 */
#ifndef FLASH_TILED_CUDA_STAGES_H
#define FLASH_TILED_CUDA_STAGES_H

#include "06_flash_tiled_cuda/program/chapter.h"
#include "06_flash_tiled_cuda/program/device_choice.h"
#include "06_flash_tiled_cuda/program/lacks.h"
#include "06_flash_tiled_cuda/program/launches.h"
#include "common/check/attention_check.h"
#include "common/program/options.h"

struct result {
    float *O, *lse;
};

/* Runs the kernel on the device, into poisoned memory. */
struct result kernel_run(const struct kernel *kernel, const struct device *device,
                         const struct attention_input *input);
void result_free(struct result *r);

/*
 * How a kernel compares; and the stage before: the kernel before that can do the problem, or if there is
 * none, chapter 05.
 */
struct verdict {
    struct attention_errors errors;
    const char *before;
    double previous;  // the largest difference from it
};

/*
 * Compares a kernel's result with the reference, with chapter 05's complete, and with the nearest
 * earlier kernel that can do the problem, which is run on the same device. `tell` says whether the part
 * "Compared with" is printed.
 */
struct verdict kernel_check(const struct kernel *kernel, const struct device *device,
                            const struct attention_input *input, struct attention_check *check,
                            const struct result *r, bool tell);

#endif
