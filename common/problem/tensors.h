/*
 * What a step works on, and what every step in C is: one function with these three arguments, in every chapter, forward and
 * backward. A GPU's kernel gets such a function too, which takes its arrays there and back.
 */
#ifndef COMMON_TENSORS_H
#define COMMON_TENSORS_H

#include "common/problem/attention.h"

/*
 * The arrays of an attention problem, in the shapes of attention.h; dO, dQ, dK and dV have those of O, Q, K and V, m and l that of lse.
 * None that is written may be another one. A forward step reads Q, K and V, and writes O and, unless it is NULL, lse. A backward
 * step reads these five and dO, the gradient of the loss by O, and writes dQ, dK and dV; m and l, of which lse is made, are
 * for the one step that wants them, and else NULL.
 */
struct tensors {
    const float *Q, *K, *V, *dO, *m, *l;
    float *O, *lse, *dQ, *dK, *dV;
};

typedef void attention_step(const struct attention *p, struct tile_size size, struct tensors x);

#endif
