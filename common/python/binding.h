/*
 * A chapter's binding: what libflash.so shows of it. flash.py has the same structures.
 *
 * The chapters call their tables and helpers by the same names, so each is linked into one object of which
 * only `binding_NN` can be seen, and these objects make up the library.
 */
#ifndef COMMON_PYTHON_BINDING_H
#define COMMON_PYTHON_BINDING_H

#include "common/problem/attention.h"

#include <stdbool.h>
#include <stddef.h>

struct binding_step {
    const char *name, *idea;
    bool backward;  // it computes gradients; else O
    bool lse;       // it writes lse too
};

/* What a step is called with. Chapters 04 to 06 write O and lse; 07 reads them and writes gradients. */
struct binding_call {
    size_t br, bc, threads;  // 0: as suits the step, and as OpenMP is set
    const float *Q, *K, *V, *dO;
    float *O, *lse, *dQ, *dK, *dV;
};

/* The error of each result in units of what rounding explains (common/check/tolerance.h): over 1 is wrong. */
struct binding_explained {
    double O, lse, dQ, dK, dV;
};

struct binding {
    const size_t *steps;                 // how many there are
    size_t attention_bytes, call_bytes;  // the sizes of the first two structures

    struct binding_step (*step)(size_t n);

    /* The option of p, or of a tile that the call asks for, that step n does not support, as on a command line; or NULL. */
    const char *(*unsupported)(size_t n, const struct attention *p,
                               const struct binding_call *call);

    /* Bytes of memory, at most, that step n takes in each of so many threads besides the call's arrays. */
    double (*room)(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads);
    void (*run)(size_t n, const struct attention *p, const struct binding_call *call);

    /*
     * Runs step n of this binding, which must support the call. NULL, or what went wrong; then nothing has been
     * written. `extra` becomes the bytes of extra memory that were held at most.
     */
    const char *(*call)(const struct binding *binding, size_t n, const struct attention *p,
                        const struct binding_call *call, size_t *extra);

    /* p with what attention_set_dropout computes. */
    void (*prepare)(struct attention *p);

    /* The verdict on the call's O, with its lse unless that is NULL, and on its gradients; either may be NULL. */
    const char *(*explained)(const struct attention *p, const struct binding_call *call,
                             struct binding_explained *explained);
};

/* The last three are the same for every chapter. */
const char *binding_call(const struct binding *binding, size_t n, const struct attention *p,
                         const struct binding_call *call, size_t *extra);
void binding_prepare(struct attention *p);
const char *binding_explained(const struct attention *p, const struct binding_call *call,
                              struct binding_explained *explained);

/* At most what chapters 05 and 07 keep for a tile of queries and one of keys, in one thread. */
double binding_tile_bytes(const struct attention *p, size_t Br, size_t Bc);

/* A binding of *count steps, made of the chapter's functions of these names. */
#define BINDING(count)                                                                       \
    {                                                                                        \
        .steps = (count), .attention_bytes = sizeof(struct attention),                       \
        .call_bytes = sizeof(struct binding_call), .step = step, .unsupported = unsupported, \
        .room = room, .run = run, .call = binding_call, .prepare = binding_prepare,          \
        .explained = binding_explained                                                       \
    }

/* Of all that a chapter consists of, its binding alone can be seen from outside. */
#define VISIBLE __attribute__((visibility("default")))
extern VISIBLE const struct binding binding_04, binding_05, binding_06, binding_07;

#endif
