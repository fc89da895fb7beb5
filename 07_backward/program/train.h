/*
 * Training as the proof: gradient descent with the chapter's gradients, and with wrong ones.
 */
#ifndef BACKWARD_TRAIN_H
#define BACKWARD_TRAIN_H

#include "common/program/options.h"

/* Ends the program if the command line asks for something that --train has of its own, or lacks. */
void train_check(const struct options *options);

/*
 * Q, K and V begin as noise and descend until O is that of the real layer: with the gradients of standard, with
 * those of complete, and with dQ and dK that lack the scale. The losses of the first two have to agree. With
 * longer steps the right gradients have to come down still, and the others must not. Each step's losses, of the
 * shorter ones, are written to --csv.
 */
void train(const struct options *options);

#endif
