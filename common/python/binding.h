/*
 * A chapter's interface in libflash.so; flash.py mirrors these structures. Chapters use the same
 * names, so each is linked into one object that exports only `binding_NN`.
 */
#ifndef COMMON_PYTHON_BINDING_H
#define COMMON_PYTHON_BINDING_H

#include "common/problem/attention.h"

#include <stdbool.h>
#include <stddef.h>

struct binding_step {
    const char *name, *idea;
    bool backward;  // computes gradients; else O
    bool lse;       // also writes lse
};

/* Chapters 04 to 06 write O and lse; 07 reads them and writes gradients. */
struct binding_call {
    size_t br, bc, threads;  // 0: the step's default, and OpenMP's
    const float *Q, *K, *V, *dO;
    float *O, *lse, *dQ, *dK, *dV;
};

/* Errors in units of what rounding explains (common/check/tolerance.h): over 1 is wrong. */
struct binding_explained {
    double O, lse, dQ, dK, dV;
};

struct binding {
    const size_t *steps;                 // their number
    size_t attention_bytes, call_bytes;  // the sizes of the first two structures

    struct binding_step (*step)(size_t n);

    /* The option, or tile, that step n does not support, as on a command line; or NULL. */
    const char *(*unsupported)(size_t n, const struct attention *p,
                               const struct binding_call *call);

    /* Upper bound of bytes allocated in each of `threads` threads, without the call's arrays. */
    double (*room)(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads);
    void (*run)(size_t n, const struct attention *p, const struct binding_call *call);

    /*
     * Runs step n, which must support the call. NULL, or an error; then nothing was written.
     * `extra`: peak of extra memory in bytes.
     */
    const char *(*call)(const struct binding *binding, size_t n, const struct attention *p,
                        const struct binding_call *call, size_t *extra);

    /* Sets what attention_set_dropout computes. */
    void (*prepare)(struct attention *p);

    /*
     * Checks O (and lse, unless NULL) and gradients; either may be NULL. NULL, or what is missing.
     */
    const char *(*explained)(const struct attention *p, const struct binding_call *call,
                             struct binding_explained *explained);
};

/* Common to all chapters. */
const char *binding_call(const struct binding *binding, size_t n, const struct attention *p,
                         const struct binding_call *call, size_t *extra);
void binding_prepare(struct attention *p);
const char *binding_explained(const struct attention *p, const struct binding_call *call,
                              struct binding_explained *explained);

/* Upper bound per thread, in bytes, for a tile of queries and one of keys in chapters 05 and 07. */
double binding_tile_bytes(const struct attention *p, size_t Br, size_t Bc);

/* *`count` steps, with the chapter's functions of these names. */
#define BINDING(count)                                                                       \
    {                                                                                        \
        .steps = (count), .attention_bytes = sizeof(struct attention),                       \
        .call_bytes = sizeof(struct binding_call), .step = step, .unsupported = unsupported, \
        .room = room, .run = run, .call = binding_call, .prepare = binding_prepare,          \
        .explained = binding_explained                                                       \
    }

#define VISIBLE __attribute__((visibility("default")))
extern VISIBLE const struct binding binding_04, binding_05, binding_06, binding_07;

#endif
