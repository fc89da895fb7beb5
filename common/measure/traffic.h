/*
 * Counting accesses to slow memory, one element at a time.
 *
 * Slow memory is every array that the caller owns or that an algorithm stores whole: x and y; Q, K,
 * V, O and lse; S and P where they exist; the gradients. Those are instrumented by name. Fast memory is
 * what an algorithm keeps for the moment: tiles, a running maximum, a row of output. Its accesses
 * are free and are not counted; its size is.
 *
 * An algorithm file reads slow memory with load(&x[j]) and writes it with store(&y[j], value). It
 * is compiled twice. As it stands, load and store are plain accesses and cost nothing. Once more
 * through the `counted.c` beside it, which defines COUNT_TRAFFIC and gives its functions the suffix
 * _counted, they also count. And when it is graded they are functions of the program that it is linked with
 * (common/classroom/student/served.c). A load is 1, a store is 1, a read-modify-write is 2.
 *
 * Counting is for one thread.
 */
#ifndef COMMON_TRAFFIC_H
#define COMMON_TRAFFIC_H

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

/* Counts one load or store at `element`; one that lies in no instrumented array ends the program. */
void traffic_count_load(const float *element);
void traffic_count_store(const float *element);

/* The same for the n elements from `first` on, all of one array. */
void traffic_count_loads(const float *first, size_t n);
void traffic_count_stores(const float *first, size_t n);

#ifdef TRAFFIC_SERVED
float load(const float *element);
void store(float *element, float value);
#elif defined COUNT_TRAFFIC
static inline float load(const float *element)
{
    traffic_count_load(element);
    return *element;
}

static inline void store(float *element, float value)
{
    traffic_count_store(element);
    *element = value;
}
#else
static inline float load(const float *element)
{
    return *element;
}

static inline void store(float *element, float value)
{
    *element = value;
}
#endif

/* Where a full tile is read or written by vectors, and not element by element. */
static inline void count_loads(const float *first, size_t n)
{
#ifdef COUNT_TRAFFIC
    traffic_count_loads(first, n);
#else
    (void)first, (void)n;
#endif
}

static inline void count_stores(const float *first, size_t n)
{
#ifdef COUNT_TRAFFIC
    traffic_count_stores(first, n);
#else
    (void)first, (void)n;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
