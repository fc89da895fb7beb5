/*
 * What a backward pass begins with: dO, and the forward pass, which is chapter 05's.
 */
#ifndef BACKWARD_FORWARD_H
#define BACKWARD_FORWARD_H

#include "common/lab/lab.h"

/* From Q, K and V of x its O, lse, m and l; m and l come from chapter 03's merge. Free them with forward_free. */
void forward_pass(const struct attention *p, struct tensors *x);
void forward_free(struct tensors *x);

/* The problem of the command line, for which the forward pass has not been run. */
void backward_load(struct lab *lab);

/* As lab_input, with what else a backward pass reads. */
void backward_input(struct lab *lab);

/* A problem of this shape with normal numbers, by the options' seed; the forward pass has been run. */
struct lab backward_random(const struct chapter *chapter, struct attention p,
                           const struct options *options);

/* Frees what belongs to the forward pass, and the lab. */
void backward_release(struct lab *lab);

/* Gradients; they were stored in a type that is float32 but for some kernels. */
struct result {
    float *of[GRADIENTS];
    enum dtype type;
};

/* Runs the step into poisoned memory; result_free what it gives. */
struct result backward_run(const struct step *step, const struct lab *lab, struct tile_size size);
void result_free(struct result *r);

#endif
