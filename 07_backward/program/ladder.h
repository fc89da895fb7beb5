/*
 * All steps beside one another: what they read and write, and how far off they are.
 */
#ifndef BACKWARD_LADDER_H
#define BACKWARD_LADDER_H

#include "07_backward/program/stages.h"

/*
 * The part "Steps": a line for every step, its accesses and errors; of one that cannot do
 * the layer, why. Written to --csv too, where that is asked for without --bench.
 */
void print_steps(const struct layer *layer, const struct options *options);

#endif
