#include "common/measure/traffic.h"

#include "common/cpu/memory.h"
#include "common/measure/accesses.h"
#include "common/measure/watch.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct traffic arrays[TRAFFIC_MAX_ARRAYS];
static size_t array_count;
static size_t last_hit;  // most accesses follow one to the same array

/* The hooks must be quick: addresses accessed lately that are in no array. */
enum { GAPS = 3 };
static struct gap {
    uintptr_t from, bytes;
} gaps[GAPS];

/* Bytes of extra memory. Several threads may allocate it. */
static struct extra_bytes {
    atomic_size_t held, peak;
} slow, fast;

/* The addresses around one that is in no array, up to the arrays before and after. */
static struct gap gap_around(uintptr_t at)
{
    uintptr_t from = 0, to = UINTPTR_MAX;
    for (size_t a = 0; a < array_count; a++) {
        const uintptr_t begin = (uintptr_t)arrays[a].begin, end = (uintptr_t)arrays[a].end;
        if (end <= at && end > from)
            from = end;
        if (begin > at && begin < to)
            to = begin;
    }
    return (struct gap){ from, to - from };
}

static bool holds(size_t array, const void *element)
{
    const uintptr_t at = (uintptr_t)element;
    return array < array_count && at >= (uintptr_t)arrays[array].begin &&
           at < (uintptr_t)arrays[array].end;
}

bool traffic_count(const void *at, size_t elements, bool writes)
{
    if (!holds(last_hit, at))
        for (last_hit = 0; last_hit < array_count && !holds(last_hit, at); last_hit++)
            ;
    if (last_hit < array_count)
        *(writes ? &arrays[last_hit].stores : &arrays[last_hit].loads) += elements;
    return last_hit < array_count;
}

static void count_access(const void *at, size_t bytes, bool writes, bool aligned,
                         const void *instruction)
{
    static size_t oldest;
    (void)aligned, (void)instruction;
    if (!traffic_count(at, bytes / sizeof(float), writes))
        gaps[oldest++ % GAPS] = gap_around((uintptr_t)at);
}

static watcher *watching = count_access;

void watch_with(watcher *who)
{
    watching = who ? who : count_access;
    memset(gaps, 0, sizeof gaps);
}

void traffic_reset(void)
{
    array_count = last_hit = 0;
    memset(gaps, 0, sizeof gaps);
    atomic_store(&slow.peak, atomic_load(&slow.held));
    atomic_store(&fast.peak, atomic_load(&fast.held));
}

static struct traffic *find(const char *name)
{
    for (size_t a = 0; a < array_count; a++)
        if (strcmp(arrays[a].name, name) == 0)
            return &arrays[a];
    return NULL;
}

void traffic_watch(const char *name, const float *array, size_t count)
{
    struct traffic *t = find(name);
    if (!t) {
        assert(array_count < TRAFFIC_MAX_ARRAYS);
        t = &arrays[array_count++];
        *t = (struct traffic){ .name = name };
    }
    t->begin = array;
    t->end = array + count;
    memset(gaps, 0, sizeof gaps);
}

struct traffic traffic_of(const char *name)
{
    assert(find(name));
    return *find(name);
}

struct traffic traffic_total(void)
{
    struct traffic total = { .name = "all" };
    for (size_t a = 0; a < array_count; a++) {
        total.loads += arrays[a].loads;
        total.stores += arrays[a].stores;
    }
    return total;
}

void accesses_add(struct accesses *a, const char *what, size_t n, const char *formula)
{
    a->line[a->n++] =
        (struct counted){ .what = what, .predicted = n, .formula = formula, .note = "" };
}

static size_t seen_of(const char *what)
{
    const char *const space = strrchr(what, ' ');
    char array[24];
    snprintf(array, sizeof array, "%.*s", (int)(space - what), what);
    const struct traffic seen = traffic_of(array);
    return strcmp(space, " stores") == 0 ? seen.stores : seen.loads;
}

bool accesses_sum(struct accesses *a, const char *formula, size_t *total)
{
    const struct traffic sum = traffic_total();
    size_t predicted = 0;
    bool as_predicted = true;
    for (struct counted *line = a->line; line < a->line + a->n; line++) {
        line->count = seen_of(line->what);
        predicted += line->predicted;
        as_predicted &= line->count == line->predicted;
    }
    *total = sum.loads + sum.stores;
    a->line[a->n++] = (struct counted){ "all", *total, predicted, formula, "" };
    return as_predicted && *total == predicted;
}

// ---- extra memory -------------------------------------------------------------------------------

/* Precedes each array of extra memory, which begins a cache line later. */
struct extra {
    size_t bytes;
    struct extra_bytes *of;
};

enum { CACHE_LINE = 64 };

void extra_check(const char *name, double count)
{
    const double held = (double)(atomic_load(&slow.held) + atomic_load(&fast.held));
    const double needs = held + count * sizeof(float), has = memory_of_machine();
    if (has > 0.0 && needs > has) {
        fprintf(stderr,
                "%s: out of memory: with %s it needs %.1f GB, and this machine has %.1f GB\n",
                program_name, name, 1e-9 * needs, 1e-9 * has);
        exit(2);
    }
}

static float *extra(const char *name, size_t count, struct extra_bytes *of)
{
    const size_t bytes = count * sizeof(float);
    extra_check(name, (double)count);
    struct extra *e = aligned_alloc(CACHE_LINE, CACHE_LINE * (bytes / CACHE_LINE + 2));
    if (!e)
        out_of_memory(name, count, sizeof(float));
    *e = (struct extra){ bytes, of };

    const size_t now = atomic_fetch_add(&of->held, bytes) + bytes;
    size_t before = atomic_load(&of->peak);
    while (before < now && !atomic_compare_exchange_weak(&of->peak, &before, now))
        ;
    return (float *)((char *)e + CACHE_LINE);
}

float *extra_slow(const char *name, size_t count)
{
    float *array = extra(name, count, &slow);
    traffic_watch(name, array, count);
    return array;
}

float *extra_fast(const char *name, size_t count)
{
    float *array = extra(name, count, &fast);
    poison_fill(array, count);  // so that reads of unwritten memory show
    return array;
}

void extra_free(float *array)
{
    if (!array)
        return;
    struct extra *e = (struct extra *)((char *)array - CACHE_LINE);
    atomic_fetch_sub(&e->of->held, e->bytes);
    if (e->of == &slow) {
        for (size_t a = 0; a < array_count; a++)
            if (arrays[a].begin == array)
                arrays[a].begin = arrays[a].end = NULL;  // its counts stay
        memset(gaps, 0, sizeof gaps);
    }
    free(e);
}

size_t extra_slow_peak(void)
{
    return atomic_load(&slow.peak);
}

size_t extra_fast_peak(void)
{
    return atomic_load(&fast.peak);
}

// ---- what watched code calls before each access ------------------------------------------------
//
// Compilers fix the names; with the thread sanitizer, its library has them.

#ifdef __has_feature
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#elif defined __SANITIZE_THREAD__
#define HAS_THREAD_SANITIZER 1
#endif
#if !HAS_THREAD_SANITIZER

static inline void saw(const void *at, size_t bytes, bool writes, bool aligned,
                       const void *instruction)
{
    for (size_t k = 0; k < GAPS; k++)
        if ((uintptr_t)at - gaps[k].from < gaps[k].bytes)
            return;
    if (bytes > 0)
        watching(at, bytes, writes, aligned, instruction);
}

#define ACCESS(name, bytes, writes, aligned)                          \
    void name(const void *at)                                         \
    {                                                                 \
        saw(at, bytes, writes, aligned, __builtin_return_address(0)); \
    }
#define ACCESSES(bytes)                                       \
    ACCESS(__tsan_read##bytes, bytes, false, true)            \
    ACCESS(__tsan_write##bytes, bytes, true, true)            \
    ACCESS(__tsan_unaligned_read##bytes, bytes, false, false) \
    ACCESS(__tsan_unaligned_write##bytes, bytes, true, false)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

#define RANGE(name, writes)                                         \
    void name(const void *at, size_t bytes)                         \
    {                                                               \
        saw(at, bytes, writes, false, __builtin_return_address(0)); \
    }
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

/* Copies, from clang or from the source (WATCH_FLAGS). */
#define COPY(prefix, copy)                                           \
    void *prefix##copy(void *to, const void *from, size_t bytes)     \
    {                                                                \
        saw(from, bytes, false, false, __builtin_return_address(0)); \
        saw(to, bytes, true, false, __builtin_return_address(0));    \
        return copy(to, from, bytes);                                \
    }
#define FILL(prefix)                                              \
    void *prefix##memset(void *to, int value, size_t bytes);      \
    void *prefix##memset(void *to, int value, size_t bytes)       \
    {                                                             \
        saw(to, bytes, true, false, __builtin_return_address(0)); \
        return memset(to, value, bytes);                          \
    }
COPY(__tsan_, memcpy)
COPY(__tsan_, memmove)
FILL(__tsan_)
COPY(watch_, memcpy)
COPY(watch_, memmove)
FILL(watch_)

void __tsan_init(void)
{
}
void __tsan_func_exit(void)
{
}
void __tsan_func_entry(const void *caller)
{
    (void)caller;
}

#endif
