/* Costs of accesses by source line (struct cuda_line in cpu.h). */
#ifndef COMMON_CUDA_PROFILE_H
#define COMMON_CUDA_PROFILE_H

namespace cpu
{

struct memory_access;

void profile_access(const memory_access *a);

/* At a barrier: closes the requests. */
void profile_close();

}  // namespace cpu

#endif
