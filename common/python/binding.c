/*
 * What every binding does before and after a step.
 *
 * A program that finds no memory says so and exits. In somebody else's process that must not happen, and
 * there is no way back out of a step, least of all from its threads. So there is an upper bound for what each
 * step takes, and it is asked for as one piece first. tests.py holds the bounds against what steps took.
 */
#include "common/python/binding.h"

#include "common/cpu/memory.h"
#include "common/cpu/threads.h"
#include "common/measure/traffic.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static bool is_there(double bytes)
{
    const double most = memory_of_machine();
    if (bytes >= (double)PTRDIFF_MAX)
        return false;
    const bool fits = most == 0.0 || bytes <= most;
    void *volatile const room =
        fits ? malloc((size_t)bytes + 1) : NULL;  // or clang takes success for granted
    free(room);
    return room != NULL;
}

static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* Can so many threads run at once? Where they can't, OpenMP ends the process. Asked when there are more than ever before. */
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

const char *binding_call(const struct binding *binding, size_t n, const struct attention *p,
                         const struct binding_call *call, size_t *extra)
{
    const size_t usual = threads_in_use(), threads = call->threads ? call->threads : usual;
    if (!is_there(binding->room(n, p, call, threads)))
        return "out of memory";
    if (!can_start(threads))
        return "out of threads";
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

double binding_tile_bytes(const struct attention *p, size_t Br, size_t Bc)
{
    const double group = 64.0;  // queries or keys are rounded up to groups, of fewer than these
    const double rows = (double)(Br < p->Nq ? Br : p->Nq) + group;
    const double cols = (double)(Bc < p->Nk ? Bc : p->Nk) + group;
    const double d = (double)p->d + group;
    return sizeof(float) * (8.0 * (rows + cols) * d + 2.0 * rows * cols);
}
