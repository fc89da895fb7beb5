/*
 * How long the kernels take on a GPU.
 */
#ifndef BACKWARD_CUDA_SPEED_H
#define BACKWARD_CUDA_SPEED_H

#include "07_backward/kernels/host/run.h"

/*
 * The ladder: all kernels of --dtype, without a mask and causal, checked and timed in turns, as in chapter 06. In float32
 * 64 heads of 4096 queries and keys, d = 64 and 128; in 16 bits 128 heads, and with d = 128 also of 8192.
 */
void cuda_bench_ladder(const struct device *device, const struct options *options);

/* The part "Speed" about one kernel with this layer: the best of some runs. */
void cuda_print_speed(const struct step *kernel, const struct device *device,
                      const struct lab *lab);

#endif
