#ifndef BACKWARD_STEPS_H
#define BACKWARD_STEPS_H

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/problem/attention.h"

#include <stddef.h>

/*
 * For d <= 256. A query that attends to no key adds nothing to gradients; a key that no query
 * attends to is not read, and its dK and dV are exactly 0. All support masks; steps.c lists what
 * else. The number of threads does not change the result.
 */
attention_step backward_standard, backward_fa2,
    backward_complete;  // for other files; the rest are declared in steps.c

#endif
