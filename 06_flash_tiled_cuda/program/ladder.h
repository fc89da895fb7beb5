/*
 * All kernels beside one another: what they read and write, and how far off they are.
 */
#ifndef FLASH_TILED_CUDA_LADDER_H
#define FLASH_TILED_CUDA_LADDER_H

#include "06_flash_tiled_cuda/program/chapter.h"
#include "common/program/options.h"

/*
 * The part "Kernels": a line for every kernel, its blocks, accesses and errors; of one that cannot do
 * the problem, why. Written to --csv too, where that is asked for without --bench.
 */
void print_kernels(const struct device *device, const struct attention_input *input,
                   const struct options *options);

#endif
