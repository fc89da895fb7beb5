#include "common/measure/traffic.h"

#include "common/cpu/memory.h"
#include "common/measure/accesses.h"
#include "common/measure/watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct traffic arrays[TRAFFIC_MAX_ARRAYS];
static size_t array_count;
static size_t last_hit;  // most accesses follow one to the same array

struct addresses traffic_all, traffic_gaps[2];

/* Several threads may allocate extra memory. */
static atomic_size_t slow_held, slow_peak, fast_held, fast_peak;

/* The addresses around one that is in no array, up to the arrays before and after. */
static struct addresses gap_around(uintptr_t at)
{
    uintptr_t from = 0, to = UINTPTR_MAX;
    for (size_t a = 0; a < array_count; a++) {
        const uintptr_t begin = (uintptr_t)arrays[a].begin, end = (uintptr_t)arrays[a].end;
        if (end <= at && end > from)
            from = end;
        if (begin > at && begin < to)
            to = begin;
    }
    return (struct addresses){ from, to - from };
}

static bool holds(const struct traffic *t, const void *element)
{
    const uintptr_t at = (uintptr_t)element;
    return at >= (uintptr_t)t->begin && at < (uintptr_t)t->end;
}

static struct traffic *array_at(const void *element)
{
    if (last_hit < array_count && holds(&arrays[last_hit], element))
        return &arrays[last_hit];
    for (last_hit = 0; last_hit < array_count; last_hit++)
        if (holds(&arrays[last_hit], element))
            return &arrays[last_hit];
    return NULL;
}

void traffic_count(const void *element, bool writes)
{
    struct traffic *t = array_at(element);
    if (t)
        *(writes ? &t->stores : &t->loads) += 1;
}

static void count_access(const void *at, size_t bytes, bool writes, bool aligned,
                         const void *instruction)
{
    (void)aligned, (void)instruction;
    struct traffic *t = array_at(at);
    if (t) {
        *(writes ? &t->stores : &t->loads) += bytes / sizeof(float);
        return;
    }
    traffic_gaps[1] = traffic_gaps[0];
    traffic_gaps[0] = gap_around((uintptr_t)at);
}

watcher *watching = count_access;

static void arrays_changed(void)
{
    const struct addresses below = gap_around(0), above = gap_around(UINTPTR_MAX);
    traffic_all = (struct addresses){ below.bytes, array_count ? above.from - below.bytes : 0 };
    traffic_gaps[0] = traffic_gaps[1] = (struct addresses){ 0, 0 };
    if (watching != count_access)
        traffic_all = (struct addresses){ 0, UINTPTR_MAX };
}

void watch_with(watcher *who)
{
    watching = who ? who : count_access;
    arrays_changed();
}

void traffic_reset(void)
{
    array_count = last_hit = 0;
    arrays_changed();
    atomic_store(&slow_peak, atomic_load(&slow_held));
    atomic_store(&fast_peak, atomic_load(&fast_held));
}

static struct traffic *find(const char *name)
{
    for (size_t a = 0; a < array_count; a++)
        if (strcmp(arrays[a].name, name) == 0)
            return &arrays[a];
    return NULL;
}

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "traffic: %s %s\n", what, name);
    abort();
}

void traffic_watch(const char *name, const float *array, size_t count)
{
    for (size_t a = 0; a < array_count; a++)
        if (holds(&arrays[a], array) || holds(&arrays[a], array + count - 1))
            fail("two instrumented arrays overlap, the second is", name);
    struct traffic *t = find(name);
    if (!t) {
        if (array_count == TRAFFIC_MAX_ARRAYS)
            fail("too many instrumented arrays to take", name);
        t = &arrays[array_count++];
        *t = (struct traffic){ .name = name };
    }
    t->begin = array;
    t->end = array + count;
    arrays_changed();
}

struct traffic traffic_of(const char *name)
{
    const struct traffic *t = find(name);
    if (!t)
        fail("nobody watches an array called", name);
    return *t;
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
    const struct traffic all = traffic_total();
    size_t predicted = 0;
    bool as_predicted = true;
    for (struct counted *line = a->line; line < a->line + a->n; line++) {
        line->count = seen_of(line->what);
        predicted += line->predicted;
        as_predicted &= line->count == line->predicted;
    }
    *total = all.loads + all.stores;
    a->line[a->n++] = (struct counted){ "all", *total, predicted, formula, "" };
    return as_predicted && *total == predicted;
}

/* Precedes each array of extra memory, which begins a cache line later. */
struct extra {
    size_t bytes;
    bool slow;
};

enum { CACHE_LINE = 64 };

void extra_check(const char *name, double count)
{
    const double there = memory_of_machine();
    const double all =
        (double)atomic_load(&slow_held) + (double)atomic_load(&fast_held) + count * sizeof(float);
    if (there > 0.0 && all > there) {
        fprintf(stderr,
                "%s: out of memory: with %s it needs %.1f GB, and this machine has %.1f GB\n",
                memory_program_name(), name, 1e-9 * all, 1e-9 * there);
        exit(2);
    }
}

static float *extra(const char *name, size_t count, bool slow, atomic_size_t *held,
                    atomic_size_t *peak)
{
    extra_check(name, (double)count);
    if (count > (SIZE_MAX - CACHE_LINE) / sizeof(float) - CACHE_LINE)
        out_of_memory(name, count, sizeof(float));
    const size_t bytes = count * sizeof(float);
    struct extra *e = aligned_alloc(CACHE_LINE, CACHE_LINE * (bytes / CACHE_LINE + 2));
    if (!e)
        out_of_memory(name, count, sizeof(float));
    *e = (struct extra){ .bytes = bytes, .slow = slow };

    const size_t now = atomic_fetch_add(held, bytes) + bytes;
    size_t before = atomic_load(peak);
    while (before < now && !atomic_compare_exchange_weak(peak, &before, now))
        ;
    return (float *)((char *)e + CACHE_LINE);
}

float *extra_slow(const char *name, size_t count)
{
    float *array = extra(name, count, true, &slow_held, &slow_peak);
    traffic_watch(name, array, count);
    return array;
}

float *extra_fast(const char *name, size_t count)
{
    float *array = extra(name, count, false, &fast_held, &fast_peak);
    poison_fill(array, count);  // so that reads of unwritten memory show
    return array;
}

void extra_free(float *array)
{
    if (!array)
        return;
    struct extra *e = (struct extra *)((char *)array - CACHE_LINE);
    atomic_fetch_sub(e->slow ? &slow_held : &fast_held, e->bytes);
    for (size_t a = 0; a < array_count && e->slow; a++)
        if (arrays[a].begin == array)
            arrays[a].begin = arrays[a].end = NULL;  // its counts stay
    if (e->slow)
        arrays_changed();
    free(e);
}

size_t extra_slow_peak(void)
{
    return atomic_load(&slow_peak);
}

size_t extra_fast_peak(void)
{
    return atomic_load(&fast_peak);
}
