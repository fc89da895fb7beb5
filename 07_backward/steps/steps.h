#ifndef BACKWARD_STEPS_H
#define BACKWARD_STEPS_H

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/problem/attention.h"

#include <stddef.h>

/*
 * For d <= 256. A query without keys adds nothing to gradients; a key without queries is not read,
 * and its dK and dV are exactly 0. All support masks; steps.c lists what else.
 */
attention_step backward_standard, backward_fa2,
    backward_complete;  // the others: steps.c

#endif
