#include "common/tests/witness.h"

#include "common/measure/traffic.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct witnessed seen[TRAFFIC_MAX_ARRAYS];

void witness_start(void)
{
    memset(seen, 0, sizeof seen);
}

struct witnessed witness_of(const char *name)
{
    const struct traffic *arrays;
    const size_t count = traffic_arrays(&arrays);
    for (size_t a = 0; a < count; a++)
        if (strcmp(arrays[a].name, name) == 0)
            return seen[a];
    return (struct witnessed){ SIZE_MAX,
                               SIZE_MAX };  // instrumented by nobody: agrees with no count
}

/* An access of `bytes` at `at`: as many elements as of those bytes lie in an instrumented array. */
static void saw(const void *at, size_t bytes, bool writes)
{
    const struct traffic *arrays;
    const size_t count = traffic_arrays(&arrays);
    const uintptr_t from = (uintptr_t)at;
    for (size_t a = 0; a < count; a++) {
        if (from < (uintptr_t)arrays[a].begin || from >= (uintptr_t)arrays[a].end)
            continue;
        if (writes)
            seen[a].stores += bytes / sizeof(float);
        else
            seen[a].loads += bytes / sizeof(float);
    }
}

/*
 * The functions that instrumented code calls. Their names are the compiler's, gcc's and clang's
 * alike; the thread sanitizer's own library, which usually provides them, is not linked.
 */
#define ACCESS(name, bytes, writes) \
    void name(const void *at);      \
    void name(const void *at)       \
    {                               \
        saw(at, bytes, writes);     \
    }
#define BOTH(size)                                   \
    ACCESS(__tsan_read##size, size, false)           \
    ACCESS(__tsan_write##size, size, true)           \
    ACCESS(__tsan_unaligned_read##size, size, false) \
    ACCESS(__tsan_unaligned_write##size, size, true)
BOTH(1)
BOTH(2)
BOTH(4)
BOTH(8)
BOTH(16)

#define RANGE(name, writes)                  \
    void name(const void *at, size_t bytes); \
    void name(const void *at, size_t bytes)  \
    {                                        \
        saw(at, bytes, writes);              \
    }
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

#define NOTHING(name) \
    void name(void);  \
    void name(void)   \
    {                 \
    }
NOTHING(__tsan_init)
NOTHING(__tsan_func_exit)
ACCESS(__tsan_func_entry, 0, false)

/* Atomic numbers, by which threads wait for one another: they are done, and are no element of an array. */
uint64_t __tsan_atomic64_load(const volatile uint64_t *at, int order);
uint64_t __tsan_atomic64_load(const volatile uint64_t *at, int order)
{
    (void)order;
    return *at;
}

void __tsan_atomic64_store(volatile uint64_t *at, uint64_t value, int order);
void __tsan_atomic64_store(volatile uint64_t *at, uint64_t value, int order)
{
    (void)order;
    *at = value;
}

uint64_t __tsan_atomic64_fetch_add(volatile uint64_t *at, uint64_t value, int order);
uint64_t __tsan_atomic64_fetch_add(volatile uint64_t *at, uint64_t value, int order)
{
    (void)order;
    *at += value;
    return *at - value;
}

/* clang's calls for copies that it makes itself, and the copies in the source (WITNESS_FLAGS). */
#define MEMORY(prefix)                                               \
    void *prefix##memcpy(void *to, const void *from, size_t bytes);  \
    void *prefix##memcpy(void *to, const void *from, size_t bytes)   \
    {                                                                \
        saw(from, bytes, false);                                     \
        saw(to, bytes, true);                                        \
        return memcpy(to, from, bytes);                              \
    }                                                                \
    void *prefix##memmove(void *to, const void *from, size_t bytes); \
    void *prefix##memmove(void *to, const void *from, size_t bytes)  \
    {                                                                \
        saw(from, bytes, false);                                     \
        saw(to, bytes, true);                                        \
        return memmove(to, from, bytes);                             \
    }                                                                \
    void *prefix##memset(void *to, int value, size_t bytes);         \
    void *prefix##memset(void *to, int value, size_t bytes)          \
    {                                                                \
        saw(to, bytes, true);                                        \
        return memset(to, value, bytes);                             \
    }
MEMORY(__tsan_)
MEMORY(witness_)
