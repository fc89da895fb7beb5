/*
 * What chapter 06's program tells before it comes to its input, and of the device alone.
 */
#ifndef FLASH_TILED_CUDA_STORY_H
#define FLASH_TILED_CUDA_STORY_H

#include "06_flash_tiled_cuda/kernels/device/device.h"

/* By hand, and all kernels on the first text of the real input. */
void print_story(const struct device *device);

/* The part "Device": what it has, and what it reaches; written to `csv` too, unless that is NULL. */
void print_device(const struct device *device, const char *csv);

#endif
