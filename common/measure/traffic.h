/*
 * Counts accesses to slow memory, an element at a time.
 *
 * Slow memory is every array that the caller owns or an algorithm stores in full: x and y; Q, K, V,
 * O and lse; S and P; the gradients. Fast memory, such as tiles, is free; only its size counts. A
 * step's instrumented build (watch.h) calls a function before each access. A load is 1, a store
 * is 1, and x[j] += y is 2. Single-threaded.
 */
#ifndef COMMON_TRAFFIC_H
#define COMMON_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRAFFIC_MAX_ARRAYS = 16 };

struct traffic {
    const char *name;
    const void *begin, *end;  // the array's bytes
    size_t loads, stores;     // of elements
};

/* Clears arrays, counts, and the peak of extra memory. */
void traffic_reset(void);

/* Counts the accesses to `array`, which must not overlap another. */
void traffic_watch(const char *name, const float *array, size_t count);

/* The counts of the array `name`, which must exist, or of all. */
struct traffic traffic_of(const char *name);
struct traffic traffic_total(void);

/*
 * An algorithm's own memory, released with extra_free. An array that is stored in full, such as S,
 * is slow memory and instrumented as `name`; a tile is fast memory. If out of memory: one line on
 * stderr, exit 2.
 */
float *extra_slow(const char *name, size_t count);
float *extra_fast(const char *name, size_t count);
void extra_free(float *array);

/*
 * Also exits if `count` more elements exceed the machine's memory, because a system may overcommit
 * and then kill the program. extra_slow and extra_fast call it.
 */
void extra_check(const char *name, double count);

/* The peak of extra memory since the last reset, in bytes. */
size_t extra_slow_peak(void);
size_t extra_fast_peak(void);

/* Counts accesses to these elements, if they are in an instrumented array, and returns whether. */
bool traffic_count(const void *at, size_t elements, bool writes);

#ifdef __cplusplus
}
#endif

#endif
