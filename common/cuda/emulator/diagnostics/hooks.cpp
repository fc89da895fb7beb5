/*
 * What the compiler calls before each access of an instrumented kernel. The names are the compiler's, gcc's
 * and clang's alike. Host code in the same file makes the calls as well, and is not instrumented.
 */
#include "common/cuda/emulator/diagnostics/watch.h"

#include <cstring>

using cpu::see;

#define ACCESS(name, bytes, writes, aligned)                                \
    extern "C" void name(const void *p)                                     \
    {                                                                       \
        see(p, bytes, writes, false, aligned, __builtin_return_address(0)); \
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

#define RANGE(name, writes)                                               \
    extern "C" void name(const void *p, size_t bytes)                     \
    {                                                                     \
        see(p, bytes, writes, false, false, __builtin_return_address(0)); \
    }
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

extern "C" void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        see(from, bytes, false, false, false, __builtin_return_address(0));
        see(to, bytes, true, false, false, __builtin_return_address(0));
    }
    return memcpy(to, from, bytes);
}

extern "C" void *__tsan_memset(void *to, int value, size_t bytes)
{
    if (bytes > 0)
        see(to, bytes, true, false, false, __builtin_return_address(0));
    return memset(to, value, bytes);
}

#define NOTHING(name, ...)            \
    extern "C" void name(__VA_ARGS__) \
    {                                 \
    }
NOTHING(__tsan_init, void)
NOTHING(__tsan_func_exit, void)
NOTHING(__tsan_func_entry, const void *)
