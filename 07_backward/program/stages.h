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

/* Runs the step into poisoned memory: dQ, dK and dV, which were stored in a type that is float32 but for some kernels. */
struct result {
    float *of[GRADIENTS];
    enum dtype type;
};
struct result result_new(const struct attention *p);
struct result layer_run(const struct step *step, const struct layer *layer, struct tile_size size);
void result_free(struct result *r);
/* What a step reads, and where it writes these gradients. */
struct tensors layer_tensors(const struct layer *layer, const struct result *r);

/* The result of an earlier step, which later ones are compared with; no name: there is none. */
struct previous {
    const char *name;
    struct result result;
};

/* The nearest earlier step that supports the problem; NULL: there is none. */
const struct step *step_before(const struct step *step, const struct attention *p);

/* Runs that step, unless it is NULL; result_free what it gives. */
struct previous previous_run(const struct step *step, const struct layer *layer,
                             const struct options *options);

/* r, which becomes empty, takes the place of what was kept. */
void previous_keep(struct previous *previous, const char *name, struct result *r);

/* Compares the result of a step. `tell` says whether the part "Compared with" is printed. */
struct attention_errors step_check(const struct gradient_check *check,
                                   const struct previous *previous, const struct result *r,
                                   bool tell);

#endif
