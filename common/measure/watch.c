/*
 * The functions that watched code calls before each access. Compilers fix their names; with the
 * thread sanitizer, its library has them.
 */
#ifdef __has_feature
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#elif defined __SANITIZE_THREAD__
#define HAS_THREAD_SANITIZER 1
#else
#define HAS_THREAD_SANITIZER 0
#endif
#if !HAS_THREAD_SANITIZER

#include "common/measure/watch.h"

#include "common/measure/traffic.h"

#include <stdint.h>
#include <string.h>

/* Most accesses are to fast memory, so this test must be quick. */
static inline void saw(const void *at, size_t bytes, bool writes, bool aligned,
                       const void *instruction)
{
    const uintptr_t address = (uintptr_t)at;
    if (address - traffic_all.from < traffic_all.bytes &&
        address - traffic_gaps[0].from >= traffic_gaps[0].bytes &&
        address - traffic_gaps[1].from >= traffic_gaps[1].bytes)
        watching(at, bytes, writes, aligned, instruction);
}

#define ACCESS(name, bytes, writes, aligned)                          \
    void name(const void *at);                                        \
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
    void name(const void *at, size_t bytes);                        \
    void name(const void *at, size_t bytes)                         \
    {                                                               \
        saw(at, bytes, writes, false, __builtin_return_address(0)); \
    }
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

/* Copies, from clang or from the source (WATCH_FLAGS). */
#define COPY(prefix, copy)                                               \
    void *prefix##copy(void *to, const void *from, size_t bytes);        \
    void *prefix##copy(void *to, const void *from, size_t bytes)         \
    {                                                                    \
        if (bytes > 0) {                                                 \
            saw(from, bytes, false, false, __builtin_return_address(0)); \
            saw(to, bytes, true, false, __builtin_return_address(0));    \
        }                                                                \
        return copy(to, from, bytes);                                    \
    }
#define FILL(prefix)                                                  \
    void *prefix##memset(void *to, int value, size_t bytes);          \
    void *prefix##memset(void *to, int value, size_t bytes)           \
    {                                                                 \
        if (bytes > 0)                                                \
            saw(to, bytes, true, false, __builtin_return_address(0)); \
        return memset(to, value, bytes);                              \
    }
COPY(__tsan_, memcpy)
COPY(__tsan_, memmove)
FILL(__tsan_)
COPY(watch_, memcpy)
COPY(watch_, memmove)
FILL(watch_)

#define NOTHING(name, argument) \
    void name(argument);        \
    void name(argument)         \
    {                           \
    }
NOTHING(__tsan_init, void)
NOTHING(__tsan_func_exit, void)
void __tsan_func_entry(const void *caller);
void __tsan_func_entry(const void *caller)
{
    (void)caller;
}

#endif
