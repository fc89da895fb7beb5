/*
 * Common to all bindings. A library must not end its process for lack of memory, and a step's
 * threads cannot return early: so each step has an upper bound, which we first try to allocate at
 * once. test_memory.py compares the bounds with real peaks.
 */
#include "common/python/binding.h"

#include "common/check/gradient_check.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/traffic.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_there(double bytes)
{
    const double most = memory_of_machine();
    if (bytes >= (double)PTRDIFF_MAX)
        return false;
    const bool fits = most == 0.0 || bytes <= most;
    void *volatile const room =
        fits ? malloc((size_t)bytes + 1) : NULL;  // or clang assumes success
    free(room);
    return room != NULL;
}

static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* OpenMP would end the process without threads. Tested for new maxima only. */
static bool can_start(size_t threads)
{
    static size_t most = 1;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t others[1024];
    size_t n = 0;
    if (threads <= most)
        return true;
    pthread_mutex_lock(&lock);
    while (n + 1 < threads && n < sizeof others / sizeof others[0] &&
           pthread_create(&others[n], NULL, wait_for, &lock) == 0)
        n++;
    pthread_mutex_unlock(&lock);
    for (size_t k = 0; k < n; k++)
        pthread_join(others[k], NULL);
    if (n + 1 < threads && n < sizeof others / sizeof others[0])
        return false;
    most = threads;
    return true;
}

/* NULL, or what is missing. */
static const char *lacks(double bytes, size_t threads)
{
    return !is_there(bytes) ? "out of memory" : !can_start(threads) ? "out of threads" : NULL;
}

const char *binding_call(const struct binding *binding, size_t n, const struct attention *p,
                         const struct binding_call *call, size_t *extra)
{
    const size_t usual = threads_in_use(), threads = call->threads ? call->threads : usual;
    const char *const lack = lacks(binding->room(n, p, call, threads), threads);
    if (lack)
        return lack;
    traffic_reset();
    threads_use(threads);
    binding->run(n, p, call);
    threads_use(usual);
    *extra = extra_slow_peak() + extra_fast_peak();
    return NULL;
}

void binding_prepare(struct attention *p)
{
    attention_set_dropout(p, p->dropout, p->dropout_seed);
}

/* Rounded to the type; free() it. */
static float *rounded(const float *x, size_t n, enum dtype type)
{
    float *copy = allocate(n, sizeof *copy, "an input of the reference");
    memcpy(copy, x, n * sizeof *copy);
    dtype_round_all(type, copy, n);
    return copy;
}

static double explained_of(const struct comparison *c)
{
    return c->difference.mismatched ? (double)INFINITY : c->difference.explained;
}

static void explain_output(const struct attention_input *input, const struct binding_call *call,
                           struct binding_explained *explained)
{
    struct attention_check check = attention_check_begin(input, true);
    struct attention_verdict v = attention_verdict_of(&check, call->O, call->lse, NULL, NULL);
    explained->O = explained_of(&v.reference);
    explained->lse = explained_of(&v.lse);
    attention_verdict_end(&v);
    attention_check_end(&check);
}

static void explain_gradients(const struct attention_input *input, const struct binding_call *call,
                              struct binding_explained *explained)
{
    float *const got[] = { call->dQ, call->dK, call->dV };
    double *const each[] = { &explained->dQ, &explained->dK, &explained->dV };
    struct gradient_check check = gradient_check_begin(input, call->dO, true);
    struct gradient_verdict v = gradient_verdict_of(&check, got, NULL, NULL);
    for (size_t g = DQ; g < GRADIENTS; g++)
        *each[g] = explained_of(&v.pairs[g].reference);
    gradient_verdict_end(&v);
    gradient_check_end(&check);
}

const char *binding_explained(const struct attention *p, const struct binding_call *call,
                              struct binding_explained *explained)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    const double pairs =
        (double)p->Nk * (double)(64 + threads_in_use());  // of some queries at once
    const char *const lack =
        lacks(256.0 * ((double)queries + 2.0 * (double)keys + pairs), threads_in_use());
    if (lack)
        return lack;
    struct attention_input input = { .p = *p,
                                     .Q = rounded(call->Q, queries, p->dtype),
                                     .K = rounded(call->K, keys, p->dtype),
                                     .V = rounded(call->V, keys, p->dtype) };
    if (call->O)
        explain_output(&input, call, explained);
    if (call->dQ)
        explain_gradients(&input, call, explained);
    free(input.Q);
    free(input.K);
    free(input.V);
    return NULL;
}

double binding_tile_bytes(const struct attention *p, size_t Br, size_t Bc)
{
    const double group = 64.0;  // rounding up to groups adds less than this
    const double rows = (double)(Br < p->Nq ? Br : p->Nq) + group;
    const double cols = (double)(Bc < p->Nk ? Bc : p->Nk) + group;
    const double d = (double)p->d + group;
    return sizeof(float) * (8.0 * (rows + cols) * d + 2.0 * rows * cols);
}
