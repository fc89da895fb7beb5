/*
 * The device that kernels run on, and whether a kernel can run there.
 */
#ifndef FLASH_TILED_CUDA_CHOICE_H
#define FLASH_TILED_CUDA_CHOICE_H

#include "common/lab/device.h"
#include "common/program/options.h"
#include "common/program/step.h"

/*
 * The device of --device. If that is a GPU, and there is none or it is too old for --dtype, prints
 * why and exits with EXIT_SKIPPED.
 */
const struct device *device_choose(const struct options *options);

/* The same with this GPU; NULL: there is none, for the reason `why_none`. */
const struct device *device_among(const struct options *options, const struct device *gpu,
                                  const char *why_none);

/* Why the device does not support this type, in static memory; NULL if it does. */
const char *device_unsupported(const struct device *device, enum dtype type);

/* Ten times the compute capability that a GPU needs for the kernel with this type. */
int step_capability(const struct step *kernel, enum dtype type);

/*
 * NULL if the kernel runs on the device, in float32 or, if it does not support that, in 16 bits.
 * Else the device's name and what the kernel needs, in static memory.
 */
const char *step_wrong_device(const struct step *kernel, const struct device *device);

/* As step_unsupported, but also names a current device that cannot run it, and a kernel of --exclude. */
const char *step_unsupported_here(const struct step *kernel, const struct attention *p);

/*
 * `chosen`, or the CPU if `chosen` is a GPU that cannot run the kernel; but with --device gpu,
 * prints why and exits with EXIT_SKIPPED.
 */
const struct device *device_for(const struct step *kernel, const struct device *chosen,
                                const struct options *options);

/*
 * Bytes of shared memory for a tile in 16 bits: Q and two stages of K and V; and whether a block on
 * the device may have as many.
 */
size_t tile_bytes(const struct kernel_tile *tile);
bool device_holds(const struct device *device, const struct kernel_tile *tile);

#endif
