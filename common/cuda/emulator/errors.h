#ifndef COMMON_CUDA_ERRORS_H
#define COMMON_CUDA_ERRORS_H

#include "common/cuda/emulator/runtime.h"

namespace cpu
{

struct launch;

/* Records `error` unless it is cudaSuccess; returns it. */
cudaError_t result(cudaError_t error);

/* Records `error` and `why` until the program reads them. */
void launch_failed(cudaError_t error, const struct launch *l, const char *why);

/* Ends the program if called in a kernel. */
void only_on_the_host(const char *name);

}  // namespace cpu

#endif
