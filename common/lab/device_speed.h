/*
 * How long kernels take on the current device. Each is checked first and not timed if it is wrong;
 * then they are timed in turn, with their arrays in the device's memory.
 */
#ifndef COMMON_LAB_DEVICE_SPEED_H
#define COMMON_LAB_DEVICE_SPEED_H

#include "common/lab/lab.h"

/*
 * The kernel's seconds there, the median of several runs; 0 on the CPU, where its time means
 * nothing.
 */
double device_seconds(const struct lab *lab, const struct step *kernel);

/*
 * The part "Speed": the kernels that support the lab's problem, or the one of --step and the one
 * before. Also to --csv.
 */
void device_speed(struct lab *lab);

/* Heads of a batch of 4, queries and keys, and d. */
struct ladder_shape {
    size_t heads, N, d;
};

/*
 * The part "Speed" for problems of these shapes, unmasked and causal, which repeat the numbers of a
 * few heads. `ready` prepares a lab of those heads for checks, as lab_ready does.
 */
void device_ladder(const struct lab *lab, const struct ladder_shape *shapes, size_t count,
                   void (*ready)(struct lab *lab));

#endif
