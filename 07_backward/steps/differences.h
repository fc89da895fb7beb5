/*
 * Gradients by trying: move one number of Q, K or V a little, and see what becomes of the loss.
 *
 *     dx = (phi(x + h) - phi(x - h)) / 2h + O(h^2)          phi = sum of dO O, the loss
 *
 * It knows nothing of a backward pass, so it can judge one: all it needs is the forward pass.
 */
#ifndef BACKWARD_DIFFERENCES_H
#define BACKWARD_DIFFERENCES_H

#include "07_backward/steps/forward.h"

/* Which forward pass computes the loss: the reference in double, or chapter 05's in float32. */
enum precision { IN_DOUBLE, IN_FLOAT };

/*
 * The central difference of the loss by element `index` of Q, K or V (DQ, DK, DV), with step h. The element is
 * moved and put back.
 */
double difference_at(const struct lab *lab, size_t array, size_t index, float h,
                     enum precision precision);

/* The steps that suit each: as small as rounding lets them be. */
static const float DIFFERENCE_STEP[] = { [IN_DOUBLE] = 0x1p-11f, [IN_FLOAT] = 0x1p-6f };

#endif
