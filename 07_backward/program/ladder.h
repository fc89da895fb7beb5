/*
 * All steps beside one another: what they read and write, and how far off they are.
 */
#ifndef BACKWARD_LADDER_H
#define BACKWARD_LADDER_H

#include "07_backward/program/stages.h"

#define STEPS_CSV                                                                                 \
    "chapter,kernel,br,bc,accesses,pairs,products,slow_bytes,fast_bytes,error,previous,previous_" \
    "error\n"

/*
 * The part "Steps": a line for every step, its accesses and errors; of one that cannot do
 * the layer, why. Lines with the columns STEPS_CSV are added to `csv`, which has room for REPORT_CSV characters.
 */
void print_steps(const struct layer *layer, const struct options *options, char *csv);

#endif
