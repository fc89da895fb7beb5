#ifndef BACKWARD_TRAIN_H
#define BACKWARD_TRAIN_H

#include "07_backward/steps/forward.h"
#include "common/lab/lab.h"

struct trainer {
    const char *name;
    void (*forward)(struct lab *lab);  // allocates O and lse
    struct result (*backward)(const struct lab *lab);
};

/*
 * Gradient descent from random Q, K and V to the real layer's O, with three gradients: standard's;
 * complete's, or `other`'s unless NULL; and standard's without the factor scale in dQ and dK. The
 * first two must agree. Closes the lab; returns the exit status.
 */
int train(struct lab *lab, const struct trainer *other);

#endif
