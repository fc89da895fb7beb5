/*
 * How long kernels take on the current device. Each is checked first, and if it is wrong it is not timed; then they are timed in turn,
 * with their arrays in the device's memory.
 */
#ifndef COMMON_LAB_DEVICE_SPEED_H
#define COMMON_LAB_DEVICE_SPEED_H

#include "common/lab/lab.h"

/* Seconds that the kernel takes there, the median of some runs; 0 on the CPU, whose time with a kernel says nothing. */
double device_seconds(const struct lab *lab, const struct step *kernel);

/* The part "Speed": the kernels that can do the lab's problem, or the one of --step and the one before. Written to --csv too. */
void device_speed(struct lab *lab);

/* Heads of a batch of 4, queries and keys, and d. */
struct ladder_shape {
    size_t heads, N, d;
};

/*
 * The part "Speed" for problems of these shapes without a mask and causal, with the numbers of a few heads again and again. `ready`
 * makes a lab of those heads ready to be checked, as lab_ready does.
 */
void device_ladder(const struct lab *lab, const struct ladder_shape *shapes, size_t count,
                   void (*ready)(struct lab *lab));

#endif
