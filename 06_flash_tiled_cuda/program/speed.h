/*
 * How long the kernels take.
 */
#ifndef FLASH_TILED_CUDA_SPEED_H
#define FLASH_TILED_CUDA_SPEED_H

#include "06_flash_tiled_cuda/program/chapter.h"
#include "common/program/options.h"

/*
 * The part "Speed": the kernels that can do the problem, checked and timed; or, unless it is NULL, only
 * `only` and the kernel before it. Written to --csv too.
 */
void bench_kernels(const struct step *only, const struct device *device,
                   const struct attention_input *input, const struct options *options);

/*
 * The same for all kernels of --dtype, without a mask and causal: for a GPU. In float32 64 heads of 4096 queries
 * and keys, d = 64 and 128; in 16 bits 128 heads, also of 8192 and 16384.
 */
void bench_ladder(const struct device *device, const struct options *options);

/* Seconds that the kernel takes on the device: the median of some runs, after one that is not counted. */
double kernel_speed(const struct step *kernel, const struct device *device,
                    const struct attention_input *input);

#endif
