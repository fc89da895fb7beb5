/* Runs a kernel in several orders, to test whether its result depends on them. */
#ifndef COMMON_CUDA_SCHEDULES_H
#define COMMON_CUDA_SCHEDULES_H

namespace cpu
{

struct launch;

void run_grid(launch *l);

/* From the same memory; ends the program if results differ. */
void run_all_schedules(launch *l);

}  // namespace cpu

#endif
