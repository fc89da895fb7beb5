#ifndef BACKWARD_FORWARD_H
#define BACKWARD_FORWARD_H

#include "common/lab/lab.h"

/* Sets O, lse, m and l in x; release with forward_free. */
void forward_pass(const struct attention *p, struct tensors *x);
void forward_free(struct tensors *x);

/* The command line's problem and dO, without a forward pass. */
void backward_load(struct lab *lab);

/* lab_input, plus lines about dO. */
void backward_input(struct lab *lab);

/* A random problem and its forward pass. */
struct lab backward_random(const struct chapter *chapter, struct attention p,
                           const struct options *options);

/* Gradients as float32, and the type in which they were stored. */
struct result {
    float *of[GRADIENTS];
    enum dtype type;
};

/* Runs `step` into new, poisoned gradients; release with result_free. */
struct result backward_run(const struct step *step, const struct lab *lab, struct tile_size size);
void result_free(struct result *r);

#endif
