/*
 * Running a step, and holding it against the reference and the stage before.
 */
#ifndef BACKWARD_STAGES_H
#define BACKWARD_STAGES_H

#include "07_backward/program/chapter.h"
#include "common/check/gradient_check.h"
#include "common/program/options.h"

/* A problem with all that a backward pass needs. */
struct layer {
    struct attention_input input;
    float *dO;
    struct kept kept;
};

/* The problem of the command line, for which the forward pass has not been run, which layer_forward does. */
struct layer layer_load(const struct options *options);
void layer_forward(struct layer *layer);

/* A problem of this shape with normal numbers; the forward pass has been run. */
struct layer layer_random(struct attention p, uint64_t seed);
void layer_free(struct layer *layer);

/* The option that the step lacks for this problem, as it is written on the command line; or NULL. */
const char *step_lacks(const struct step *step, const struct attention *p);

/* The tiles that the command line asks for; what it leaves open suits the step. */
struct tile_size step_size(const struct step *step, const struct options *options, size_t d);

/* Runs the step into poisoned memory: dQ, dK and dV. */
struct result {
    float *of[GRADIENTS];
};
struct result result_new(const struct attention *p);
struct result step_run(const struct step *step, const struct layer *layer, struct tile_size size);
void result_free(struct result *r);
struct gradients result_gradients(const struct result *r);

/* How a step compares, and what it is compared with: the nearest earlier step that can do the problem. */
struct verdict {
    struct attention_errors errors;
    const char *before;  // NULL: there is none
};
struct verdict step_check(const struct step *step, const struct layer *layer,
                          const struct gradient_check *check, const struct options *options,
                          const struct result *r, bool tell);

#endif
