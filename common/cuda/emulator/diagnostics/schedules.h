/* Runs a kernel in several orders, to test whether its result depends on them. */
#ifndef COMMON_CUDA_SCHEDULES_H
#define COMMON_CUDA_SCHEDULES_H

namespace cpu
{

struct launch;

/* Runs the grid in the order of the settings (launch.cpp). */
void run_grid(launch *l);

/* Runs it in all orders from the same memory; ends the program if the results differ. */
void run_all_schedules(launch *l);

}  // namespace cpu

#endif
