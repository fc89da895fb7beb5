/*
 * The device that kernels run on, and whether a kernel can run there.
 */
#ifndef FLASH_TILED_CUDA_CHOICE_H
#define FLASH_TILED_CUDA_CHOICE_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "common/program/options.h"
#include "common/program/step.h"

/*
 * The device of --device. If that is a GPU, and there is none or it is too old for --dtype, prints
 * why and exits with EXIT_SKIPPED.
 */
const struct device *device_choose(const struct options *options);

/* The same for this GPU; or for none, NULL, because of `why_none`. */
const struct device *device_among(const struct options *options, const struct device *gpu,
                                  const char *why_none);

/* Why the device does not support this type, in static memory; NULL if it does. */
const char *device_unsupported(const struct device *device, enum dtype type);

/* "on the CPU, standing in for a GPU", or the GPU's name; the text is good until the next call. */
const char *device_text(const struct device *device);

/* Ten times the compute capability that a GPU needs for the kernel with this type. */
int step_capability(const struct step *kernel, enum dtype type);

/* What a GPU of another kind than the kernel is for is called, in static memory; NULL: the kernel runs on the device,
 * where it takes float32 with that. */
const char *step_wrong_device(const struct step *kernel, const struct device *device);

/* step_unsupported, also for the device and for kernels of --exclude. */
const char *step_unsupported_on(const struct step *kernel, const struct attention *p,
                                const struct device *device);

/*
 * `chosen`, or the CPU if that is a GPU that the kernel is not for. If --device named the GPU,
 * prints why and exits with EXIT_SKIPPED.
 */
const struct device *device_for(const struct step *kernel, const struct device *chosen,
                                const struct options *options);

#endif
