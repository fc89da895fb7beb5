#ifndef BACKWARD_TRAIN_H
#define BACKWARD_TRAIN_H

#include "07_backward/steps/forward.h"
#include "common/lab/lab.h"

struct trainer {
    const char *name;
    void (*forward)(struct lab *lab);
    struct result (*backward)(const struct lab *lab);
};

/*
 * From noise, Q, K and V descend towards the real layer's O, by the gradients of standard, complete
 * (or `other`, unless NULL), and with dQ and dK unscaled. Only the last may differ. Ends the lab;
 * returns the exit status.
 */
int train(struct lab *lab, const struct trainer *other);

#endif
