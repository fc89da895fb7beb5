/*
 * What a kernel's accesses cost, by source line: see struct cuda_line in cpu.h.
 */
#ifndef COMMON_CUDA_PROFILE_H
#define COMMON_CUDA_PROFILE_H

namespace cpu
{

struct memory_access;

void profile_access(const memory_access *a);

/* The lanes of a warp are no longer waited for: what has been collected is a request. */
void profile_close();

}  // namespace cpu

#endif
