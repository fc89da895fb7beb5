/*
 * A chapter's interface in libflash.so; flash.py mirrors these structures. It is compiled once for each chapter from 04 on, with
 * BINDING=binding_04 and so on, and linked into one object with that chapter, which exports only this.
 *
 * A library must not end its process for lack of memory, and a step's threads cannot return early: so each step has an upper
 * bound, which we first try to allocate at once. test_memory.py compares the bounds with real peaks.
 */
#define _POSIX_C_SOURCE 200809L  // fmemopen
#include "common/check/doctor.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/lab/lab.h"
#include "common/measure/traffic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct chapter chapter;  // whose steps these are

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

struct binding {
    size_t (*steps)(void);               // their number
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
     * The error of each result of the call in units of what rounding explains (doctor.h), in the
     * order of enum result. With a `text`, writes the verdicts and the causes of errors there, and
     * 16 bits are recognised unless has_dtype. NULL, or what is missing.
     */
    const char *(*check)(const struct attention *p, const struct binding_call *call, bool has_dtype,
                         char *text, size_t size, double explained[RESULTS]);
};

__attribute__((visibility("default"))) extern const struct binding BINDING;

// ---- steps --------------------------------------------------------------------------------------

static size_t steps(void)
{
    return chapter.table->count;
}

static struct binding_step step(size_t n)
{
    const struct step *const s = &chapter.table->steps[n];
    return (struct binding_step){ .name = s->name,
                                  .idea = s->idea,
                                  .backward = chapter.backward,
                                  .lse = s->supports & SUPPORTS_LSE };
}

/* Most kernels are compiled with one tile, which cannot be requested; chapter 04 has none. */
static const char *unsupported(size_t n, const struct attention *p, const struct binding_call *call)
{
    static char text[60];
    const struct step *const s = &chapter.table->steps[n];
    const char *const option = step_unsupported(s, p);
    if (option || !call->br || s->size || (s->is_kernel && step_tile(s, p, call->br, call->bc)))
        return option;
    snprintf(text, sizeof text, "--tile %zu, %zu", call->br, call->bc);
    return text;
}

static struct tile_size size_of(size_t n, const struct attention *p,
                                const struct binding_call *call)
{
    const struct options requested = { .br = call->br, .bc = call->bc };
    return step_size(&chapter.table->steps[n], &requested, p);
}

static void run(size_t n, const struct attention *p, const struct binding_call *call)
{
    const struct tensors x = { .Q = call->Q,
                               .K = call->K,
                               .V = call->V,
                               .dO = call->dO,
                               .O = call->O,
                               .lse = call->lse,
                               .dQ = call->dQ,
                               .dK = call->dK,
                               .dV = call->dV };
    chapter.table->steps[n].run(p, size_of(n, p, call), x);
}

// ---- memory and threads -------------------------------------------------------------------------

/* All arrays of a kernel in the device's memory and on their way there; the masks; the emulator. */
static double bytes_of_kernel(const struct step *kernel, const struct attention *p)
{
    const double queries = (double)attention_query_elements(p), rows = (double)attention_rows(p);
    const double arrays = 2.0 * queries + 2.0 * (double)attention_key_elements(p) + 4.0 * rows;
    const double scores = kernel->stores & STORES_SCORES ? 2.0 * rows * (double)p->Nk : 0.0;
    const double masks = (double)(p->B * p->Nk) + (double)p->Nq * (double)p->Nk;
    return sizeof(float) * (2.0 * arrays + scores) + masks + 1e8;
}

/* Elements that a step in C stores besides tiles: the scores of one head; m and l; D and the turns of complete. */
static double stored(const struct step *s, const struct attention *p, size_t Br)
{
    const double rows = (double)attention_rows(p), d = (double)p->d;
    const double matrix = (double)p->Nq * (double)p->Nk;
    // Splits are stored for fewer than 1536 queries, or for a tile.
    const double splits = (double)p->Nk / 512.0 + 1.0;
    const double shared = (1536.0 + (double)(Br < p->Nq ? Br : p->Nq)) * splits * (2.0 * d + 4.0);
    if (!chapter.backward && s->stores & STORES_SCORES)
        return 2.0 * matrix;
    double elements = chapter.backward ? 4.0 * rows : 2.0 * rows;
    if (s->stores & STORES_SCORES)
        elements += 4.0 * matrix;
    if (s->stores & STORES_SPLITS)
        elements += shared;
    if (chapter.backward && s->stores & STORES_STATISTICS)  // a forward pass, with its splits
        elements += rows * (4.0 * d + 4.0) + shared;
    return elements;
}

/* Upper bound for a thread's tile of queries and one of keys, in bytes. */
static double tile_bytes(const struct attention *p, size_t Br, size_t Bc)
{
    const double group = 64.0;  // rounding up to groups adds less than this
    const double rows = (double)(Br < p->Nq ? Br : p->Nq) + group;
    const double cols = (double)(Bc < p->Nk ? Bc : p->Nk) + group;
    const double d = (double)p->d + group;
    return sizeof(float) * (8.0 * (rows + cols) * d + 2.0 * rows * cols);
}

static double room(size_t n, const struct attention *p, const struct binding_call *call,
                   size_t threads)
{
    const struct step *const s = &chapter.table->steps[n];
    const struct tile_size size = size_of(n, p, call);
    const bool has_forward = chapter.backward && s->stores & STORES_STATISTICS;
    if (s->is_kernel)
        return bytes_of_kernel(s, p);
    return sizeof(float) * stored(s, p, size.Br) +
           (double)threads *
               (tile_bytes(p, size.Br, size.Bc) + (has_forward ? tile_bytes(p, 64, 128) : 0.0));
}

static bool is_there(double bytes)
{
    const double most = memory_of_machine();
    if (bytes >= (double)PTRDIFF_MAX)
        return false;
    const bool fits = most <= 0.0 || bytes <= most;
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

static const char *run_checked(const struct binding *binding, size_t n, const struct attention *p,
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

// ---- checks -------------------------------------------------------------------------------------

static void prepare(struct attention *p)
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

static const char *check(const struct attention *p, const struct binding_call *call, bool has_dtype,
                         char *text, size_t size, double explained[RESULTS])
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    const double pairs =
        (double)p->Nk * (double)(64 + threads_in_use());  // of some queries at once
    const char *const lack =
        lacks(256.0 * ((double)queries + 2.0 * (double)keys + pairs), threads_in_use());
    FILE *const to = text && !lack ? fmemopen(text, size, "w") : NULL;
    if (lack || (text && !to))
        return lack ? lack : "out of memory";
    struct attention_input input = { .p = *p,
                                     .Q = rounded(call->Q, queries, p->dtype),
                                     .K = rounded(call->K, keys, p->dtype),
                                     .V = rounded(call->V, keys, p->dtype) };
    const struct doctor doctor = { .in = &input,
                                   .dO = call->dO,
                                   .got = { call->O, call->lse, call->dQ, call->dK, call->dV },
                                   .has_dtype = has_dtype };
    doctor_report(to, &doctor, explained);
    if (to)
        fclose(to);
    free(input.Q);
    free(input.K);
    free(input.V);
    return NULL;
}

const struct binding BINDING = {
    .steps = steps,
    .attention_bytes = sizeof(struct attention),
    .call_bytes = sizeof(struct binding_call),
    .step = step,
    .unsupported = unsupported,
    .room = room,
    .run = run,
    .call = run_checked,
    .prepare = prepare,
    .check = check,
};
