/*
 * Running a kernel in several orders, to see whether its result depends on them.
 */
#ifndef COMMON_CUDA_SCHEDULES_H
#define COMMON_CUDA_SCHEDULES_H

namespace cpu
{

struct launch;

/* Runs the grid, in the order that the emulator has been told (launch.cpp). */
void run_grid(launch *l);

/* Runs it in all orders, from the same memory; ends the program if their results differ. */
void run_all_schedules(launch *l);

}  // namespace cpu

#endif
