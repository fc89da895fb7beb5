/*
 * Chapter 07, the steps in C: the gradients of attention. Each is a file in this folder or in fast/, with one idea more than
 * the one before. steps.c, in the folder above, lists them.
 */
#ifndef BACKWARD_STEPS_H
#define BACKWARD_STEPS_H

#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/problem/attention.h"

#include <stddef.h>

/*
 * What every step does, for the problem p with d at most 256. A query that attends to no key adds nothing to
 * any gradient; a key that no query attends to has exactly 0 in dK and dV, and is not read.
 *
 * All steps know scale, Nq and Nk, and masks; fa1 and complete know dropout; complete alone grouped
 * heads. The others compute as if p had no dropout, and want Hkv = H. Only complete has threads; its
 * result does not depend on how many.
 */
attention_step backward_standard, backward_fa2,
    backward_complete;  // and the others; these are called by their names too

#endif
