/*
 * Which device kernels run on: the one that is asked for, and whether a kernel can run there.
 */
#ifndef FLASH_TILED_CUDA_CHOICE_H
#define FLASH_TILED_CUDA_CHOICE_H

#include "06_flash_tiled_cuda/kernels/device/device.h"
#include "common/program/options.h"
#include "common/program/step.h"

/*
 * The device that --device asks for. Where that is a GPU, and there is none, or one that is too old for
 * --dtype, it says so and ends the program with EXIT_SKIPPED.
 */
const struct device *device_choose(const struct options *options);

/* The same where the GPU is `gpu`, or, because of `why_none`, NULL. */
const struct device *device_among(const struct options *options, const struct device *gpu,
                                  const char *why_none);

/* Why numbers of this type are none for the device, in static memory; NULL: they are. */
const char *device_unsupported(const struct device *device, enum dtype type);

/* "on the CPU, standing in for a GPU", or the GPU's name; the text is good until the next call. */
const char *device_text(const struct device *device);

/* Ten times the compute capability that a GPU needs for the kernel with this type. */
int step_capability(const struct step *kernel, enum dtype type);

/* What a GPU of another kind than the kernel is for is called, in static memory; NULL: the kernel runs on the device,
 * where it takes float32 with that. */
const char *step_wrong_device(const struct step *kernel, const struct device *device);

/* As step_unsupported, of the problem and the device; and a kernel that --exclude names supports nothing. */
const char *step_unsupported_on(const struct step *kernel, const struct attention *p,
                                const struct device *device);

/*
 * The device for this kernel: `chosen`, or, where that is a GPU that the kernel is not for, the CPU. If the GPU was asked
 * for, it says so and ends the program with EXIT_SKIPPED.
 */
const struct device *device_for(const struct step *kernel, const struct device *chosen,
                                const struct options *options);

#endif
