/*
 * The chapter's steps in C, in order: a step's row is its only description (common/program/step.h).
 * `run` is its function; `watched` the same source in the build that counts accesses
 * (common/measure/watch.h). complete, being vectorised, has none. The kernels' rows are in
 * kernels/host/kernels.c.
 */
#include "07_backward/steps/steps.h"
#include "07_backward/program.h"
#include "07_backward/steps/forward.h"
#include "common/measure/watch.h"

#include <string.h>

attention_step backward_recompute, backward_fa1, backward_split, backward_softcap;
attention_step backward_standard_watched, backward_recompute_watched, backward_fa1_watched,
    backward_fa2_watched, backward_split_watched, backward_softcap_watched;

static struct tile_size one_pair(size_t M, size_t d)
{
    (void)M, (void)d;
    return (struct tile_size){ 1, 1 };
}

/* fa1 reads m and l instead of lse. For a caller that has only lse, as in Python, we compute them again. */
static void fa1_from_lse(const struct attention *p, struct tile_size size, struct tensors x)
{
    struct tensors forward = { .Q = x.Q, .K = x.K, .V = x.V };
    if (!x.m) {
        forward_pass(p, &forward);
        x.m = forward.m;
        x.l = forward.l;
    }
    backward_fa1(p, size, x);
    forward_free(&forward);
}

static const struct step steps[] = {
    {
        .name = "standard",
        .idea = "S, P, dP and dS stored, five products",
        .run = backward_standard,
        .watched = WATCHED(backward_standard),
        .formula = "14 Nq Nk + …",
        .predict = predict_standard,
        .size = standard_size,
        .supports = SUPPORTS_MASKS,
        .stores = STORES_SCORES,
    },
    {
        .name = "recompute",
        .idea = "P recomputed from lse, nothing of size N^2",
        .run = backward_recompute,
        .watched = WATCHED(backward_recompute),
        .formula = "6 d / pair + …",
        .predict = predict_recompute,
        .size = one_pair,
        .supports = SUPPORTS_MASKS,
    },
    {
        .name = "fa1",
        .idea = "tiles, outer loop over K, V; dropout regenerated",
        .run = fa1_from_lse,
        .watched = WATCHED(backward_fa1),
        .formula = "5 Tc Nq d + …",
        .predict = predict_fa1,
        .size = fa1_size,
        .supports = SUPPORTS_MASKS | SUPPORTS_DROPOUT,
        .stores = STORES_STATISTICS,
    },
    {
        .name = "fa2",
        .idea = "each query needs only lse and D",
        .run = backward_fa2,
        .watched = WATCHED(backward_fa2),
        .formula = "4 Tc Nq d + …",
        .predict = predict_fa2,
        .size = fa1_size,
        .supports = SUPPORTS_MASKS,
    },
    {
        .name = "split",
        .idea = "dK, dV and dQ in two passes, nothing shared",
        .run = backward_split,
        .watched = WATCHED(backward_split),
        .formula = "2 Tc Nq d + 2 Tr Nk d + …",
        .predict = predict_split,
        .size = fa1_size,
        .supports = SUPPORTS_MASKS,
    },
    {
        .name = "softcap",
        .idea = "a changed score: its slope times dS",
        .run = backward_softcap,
        .watched = WATCHED(backward_softcap),
        .formula = "4 Tc Nq d + …",
        .predict = predict_fa2,
        .size = fa1_size,
        .supports = SUPPORTS_MASKS | SUPPORTS_SCORE,
    },
    {
        .name = "complete",
        .idea = "every option, vectors, threads in a fixed order",
        .run = backward_complete,
        .predict = predict_complete,
        .size = fa1_size,
        .usual = { 64, 128 },
        .supports = SUPPORTS_EVERYTHING | SUPPORTS_SCORE | SUPPORTS_THREADS,
    },
};

const struct step_table table = { steps, sizeof steps / sizeof steps[0], .first = 1, .width = 10 };

const struct chapter chapter = {
    .program = {
        .chapter = 7,
        .name = "07_backward",
        .summary = "the gradients of attention, recomputed instead of stored",
        .example = "--n-q 203 --n-k 113 --d 40 --causal --window 50,0 --dropout 0.1 --step all",
    },
    .number = "07",
    .title = "Backward",
    .idea = "gradients, recomputed instead of stored",
    .next = "--train: gradient descent with these gradients, and with wrong ones",
    .table = &table,
    .kernels = &kernel_table,
    .backward = true,
};

/* Weak defaults, which kernels/host overrides when it is linked in. */
__attribute__((weak)) const struct kernels *kernels;
__attribute__((weak)) const struct step_table *kernel_table;

// ---- the kernels, which may not be linked in -------------------------------------------------------

bool wants_kernels(const struct options *o)
{
    return o->step ? strncmp(o->step, "cuda_", 5) == 0
                   : o->device != NULL || o->dtype != DTYPE_F32 || o->timeline != NULL;
}

void kernels_expect(const struct options *o)
{
    if (!kernels && (wants_kernels(o) || o->device || o->dtype != DTYPE_F32 || o->timeline))
        options_fail(o->device               ? "--device"
                     : o->dtype != DTYPE_F32 ? "--dtype"
                     : o->timeline           ? "--timeline"
                                             : "--step",
                     "expected a program with CUDA kernels; make 07 builds one");
}
