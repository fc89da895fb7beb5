/* Reports busy waits for another thread: fibers are not preempted, so they never end. */
#ifndef COMMON_CUDA_WATCHDOG_H
#define COMMON_CUDA_WATCHDOG_H

namespace cpu
{

/* Host code runs without the timer. */
void watchdog_begin();
void watchdog_end();

}  // namespace cpu

#endif
