/*
 * Finds threads that busy-wait for another thread. Fibers are not preempted, so such a loop would
 * never end.
 */
#ifndef COMMON_CUDA_WATCHDOG_H
#define COMMON_CUDA_WATCHDOG_H

namespace cpu
{

/* Start and stop the timer; host code runs without it. */
void watchdog_begin();
void watchdog_end();

}  // namespace cpu

#endif
