/* The runtime's last error. */
#ifndef COMMON_CUDA_ERRORS_H
#define COMMON_CUDA_ERRORS_H

#include "common/cuda/emulator/runtime.h"

namespace cpu
{

struct launch;

/* Records `error` as the last error unless it is cudaSuccess; returns it. */
cudaError_t result(cudaError_t error);

/* Records that a launch was refused, and why, until the program reads the error. */
void launch_failed(cudaError_t error, const struct launch *l, const char *why);

/* Ends the program if a kernel calls a host function. */
void only_on_the_host(const char *name);

}  // namespace cpu

#endif
