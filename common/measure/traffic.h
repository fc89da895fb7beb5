/*
 * Counting accesses to slow memory, an element at a time.
 *
 * Slow memory is every array that the caller owns or that an algorithm stores whole: x and y; Q, K,
 * V, O and lse; S and P where they exist; the gradients. Those are instrumented by name. Fast memory is
 * what an algorithm keeps for the moment: tiles, a running maximum, a row of output. Its accesses
 * are free and are not counted; its size is.
 *
 * A lesson is plain C. Its watched build (watch.h) is the same file in which the compiler has put a call before each access to
 * memory: what falls into an instrumented array is counted here. A load is 1, a store is 1, and x[j] += y is 2.
 *
 * Counting is for one thread.
 */
#ifndef COMMON_TRAFFIC_H
#define COMMON_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRAFFIC_MAX_ARRAYS = 16 };

struct traffic {
    const char *name;
    const void *begin, *end;  // the array's bytes
    size_t loads, stores;     // of elements
};

/* Forgets all arrays and counts, and the peak of extra memory. */
void traffic_reset(void);

/* Watches the `count` elements of `array` under `name`; it must not overlap another. */
void traffic_watch(const char *name, const float *array, size_t count);

/* What has been counted: the array called `name` (it must be instrumented), or all of them together. */
struct traffic traffic_of(const char *name);
struct traffic traffic_total(void);

/* The instrumented arrays, in the order in which they were first instrumented. */
size_t traffic_arrays(const struct traffic **list);

/*
 * Memory that an algorithm needs besides its inputs and outputs, released with extra_free. An array
 * that is stored whole, like S or P, is slow memory and instrumented under its name; a tile is fast
 * memory. Where there is not enough: one line on standard error, and exit 2.
 */
float *extra_slow(const char *name, size_t count);
float *extra_fast(const char *name, size_t count);
void extra_free(float *array);

/*
 * Ends the program in the same way if so many more elements are more than the machine has. The two above ask it too, since a
 * system promises more memory than there is, and ends a program that then uses it.
 */
void extra_check(const char *name, size_t count);

/* The most bytes of extra memory that were held at one time since the last reset. */
size_t extra_slow_peak(void);
size_t extra_fast_peak(void);

/*
 * For watch.c, which has to be quick: all instrumented arrays are among the addresses of traffic_all, and none among those of the
 * two traffic_gaps. An access elsewhere has to be looked at: if it lies in an instrumented array it is counted, as so many elements;
 * else the gap around it becomes the first of them.
 */
struct addresses {
    uintptr_t from, bytes;
};
extern struct addresses traffic_all, traffic_gaps[2];

/* Counts one load or store at `element`; one that lies in no instrumented array ends the program. */
void traffic_count_load(const float *element);
void traffic_count_store(const float *element);

#ifdef __cplusplus
}
#endif

#endif
