#ifndef BACKWARD_CUDA_SPEED_H
#define BACKWARD_CUDA_SPEED_H

#include "07_backward/kernels/host/run.h"

/*
 * Unmasked and causal, checked and timed in turn: float32, 64 heads of 4096 rows, d = 64 and 128;
 * 16 bits, 128 heads, with d = 128 also 8192.
 */
void cuda_bench_ladder(const struct device *device, const struct options *options);

void cuda_print_speed(const struct step *kernel, const struct device *device,
                      const struct lab *lab);

#endif
