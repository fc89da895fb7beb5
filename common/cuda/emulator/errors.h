/*
 * The last error, and what every call of the runtime does about it.
 */
#ifndef COMMON_CUDA_ERRORS_H
#define COMMON_CUDA_ERRORS_H

#include "common/cuda/emulator/runtime.h"

namespace cpu
{

struct launch;

/* Makes `error`, if it is one, the last error, and returns it. */
cudaError_t result(cudaError_t error);

/* A launch was refused, and why; it stays the last error until somebody asks. */
void launch_failed(cudaError_t error, const struct launch *l, const char *why);

/* Ends the program if a kernel calls what only the host may call. */
void only_on_the_host(const char *name);

}  // namespace cpu

#endif
