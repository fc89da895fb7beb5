/*
 * The arguments of a step. In every chapter each step in C, forward or backward, is one function
 * with these three arguments. A GPU kernel is wrapped in such a function, which copies its arrays
 * to the device and back.
 */
#ifndef COMMON_TENSORS_H
#define COMMON_TENSORS_H

#include "common/problem/attention.h"

/*
 * The arrays of an attention problem, in the shapes of attention.h; dO, dQ, dK and dV have those of
 * O, Q, K and V, m and l that of lse. An output must not overlap any other array. A forward step
 * reads Q, K and V, and writes O and, unless it is NULL, lse. A backward step reads these five and
 * dO, the gradient of the loss with respect to O, and writes dQ, dK and dV. Only chapter 07's fa1
 * reads m and l, instead of lse = m + ln l; if they are NULL, it computes them.
 */
struct tensors {
    const float *Q, *K, *V, *dO, *m, *l;
    float *O, *lse, *dQ, *dK, *dV;
};

typedef void attention_step(const struct attention *p, struct tile_size size, struct tensors x);

#endif
