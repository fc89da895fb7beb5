/*
 * Training as the proof: gradient descent with the chapter's gradients, and with wrong ones.
 */
#ifndef BACKWARD_TRAIN_H
#define BACKWARD_TRAIN_H

#include "07_backward/steps/forward.h"
#include "common/lab/lab.h"

/* A training step's two passes: O and lse of lab->x, and the gradients from both. */
struct trainer {
    const char *name;
    void (*forward)(struct lab *lab);
    struct result (*backward)(const struct lab *lab);
};

/*
 * Q, K and V begin as noise and descend until O is that of the real layer: with the gradients of standard, with
 * those of complete, and with dQ and dK that lack the scale. The losses of the first two have to agree. With
 * longer steps the right gradients have to come down still, and the others must not. Each step's losses, of the
 * shorter ones, are written to --csv. `other`, unless it is NULL,
 * takes the place of complete. Ends the lab; the exit status.
 */
int train(struct lab *lab, const struct trainer *other);

#endif
