/*
 * Nobody interrupts a fiber, so a thread that waits in a loop for what another does would wait for ever,
 * and the program would say nothing. While kernels run a clock looks at them now and then.
 */
#ifndef COMMON_CUDA_WATCHDOG_H
#define COMMON_CUDA_WATCHDOG_H

namespace cpu
{

/* Starts the clock; and stops it, so that host code is not disturbed. */
void watchdog_begin();
void watchdog_end();

}  // namespace cpu

#endif
