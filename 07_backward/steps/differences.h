/*
 * Numerical gradients, from the forward pass alone.
 *
 *     dx = (phi(x + h) - phi(x - h)) / 2h + O(h^2)          phi = sum of dO O, the loss
 */
#ifndef BACKWARD_DIFFERENCES_H
#define BACKWARD_DIFFERENCES_H

#include "07_backward/steps/forward.h"

/* The forward pass: the reference, or chapter 05's. */
enum precision { IN_DOUBLE, IN_FLOAT };

/* dx for element `index` of Q, K or V (`array`: DQ, DK or DV), which it restores. */
double difference_at(const struct lab *lab, size_t array, size_t index, float h,
                     enum precision precision);

/* These h balance truncation and rounding. */
static const float DIFFERENCE_STEP[] = { [IN_DOUBLE] = 0x1p-11f, [IN_FLOAT] = 0x1p-6f };

#endif
