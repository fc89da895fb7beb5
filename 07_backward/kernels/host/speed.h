#ifndef BACKWARD_CUDA_SPEED_H
#define BACKWARD_CUDA_SPEED_H

#include "07_backward/kernels/host/run.h"

/* Unmasked and causal, checked and timed in turn. */
void cuda_bench_ladder(const struct device *device, const struct options *options);

void cuda_print_speed(const struct step *kernel, const struct device *device,
                      const struct lab *lab);

#endif
