/*
 * Warp functions: every lane of the mask must make the same call. Each passes its operands and
 * waits; the last one does the work for all.
 */
#ifndef COMMON_CUDA_WARP_H
#define COMMON_CUDA_WARP_H

#include "common/cuda/emulator/site.h"
#include "common/cuda/language.h"

#include <type_traits>

namespace cpu
{

/* The last lane calls `together` with the operands of all. */
void warp_meet(unsigned mask, const char *name, site at, void *operands,
               void (*together)(void *operands[], unsigned mask));

struct shuffle {
    const void *value;
    void *result;
    size_t bytes;
    int from;
};
void warp_shuffle(unsigned mask, const char *name, site at, shuffle *s);

/* The lane that a shuffle reads, within groups of `width` lanes, a power of 2. */
enum shuffle_kind { FROM, UP, DOWN, XOR };
int shuffle_source(shuffle_kind kind, int by, int width, const char *name, site at);

/* One value per lane, one result for all. */
enum reduction { ALL, ANY, BALLOT, ADD, MIN, MAX, MIN_SIGNED, MAX_SIGNED, AND, OR, EXOR, SAME };
unsigned warp_reduce(unsigned mask, const char *name, site at, unsigned value, reduction how);

inline namespace CUDA_BUILD
{
template <class T> T exchange(unsigned mask, T value, const char *name, site at, int from)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "not a type for a shuffle");
    T result = value;
    shuffle s = { &value, &result, sizeof value, from };
    warp_shuffle(mask, name, at, &s);
    return result;
}
}  // namespace CUDA_BUILD

}  // namespace cpu

inline namespace CUDA_BUILD
{
template <class T> T __shfl_sync(unsigned mask, T value, int lane, int width = 32, CUDA_SITE)
{
    static const char *const name = "__shfl_sync()";
    const int from = cpu::shuffle_source(cpu::FROM, lane, width, name, { file, line });
    return cpu::exchange(mask, value, name, { file, line }, from);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, CUDA_SITE)
{
    static const char *const name = "__shfl_up_sync()";
    const int from = cpu::shuffle_source(cpu::UP, int(by), width, name, { file, line });
    return cpu::exchange(mask, value, name, { file, line }, from);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, CUDA_SITE)
{
    static const char *const name = "__shfl_down_sync()";
    const int from = cpu::shuffle_source(cpu::DOWN, int(by), width, name, { file, line });
    return cpu::exchange(mask, value, name, { file, line }, from);
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, CUDA_SITE)
{
    static const char *const name = "__shfl_xor_sync()";
    const int from = cpu::shuffle_source(cpu::XOR, lanes, width, name, { file, line });
    return cpu::exchange(mask, value, name, { file, line }, from);
}
}  // namespace CUDA_BUILD

static inline void __syncwarp(unsigned mask = 0xffffffff, CUDA_SITE)
{
    cpu::warp_meet(mask, "__syncwarp()", { file, line }, nullptr, nullptr);
}

#define CUDA_REDUCTION(result, name, type, how)                                             \
    static inline result name(unsigned mask, type value, CUDA_SITE)                         \
    {                                                                                       \
        return result(                                                                      \
            cpu::warp_reduce(mask, #name "()", { file, line }, unsigned(value), cpu::how)); \
    }
CUDA_REDUCTION(int, __all_sync, int, ALL)
CUDA_REDUCTION(int, __any_sync, int, ANY)
CUDA_REDUCTION(unsigned, __ballot_sync, int, BALLOT)
CUDA_REDUCTION(unsigned, __match_any_sync, unsigned, SAME)
CUDA_REDUCTION(unsigned, __match_any_sync, int, SAME)
CUDA_REDUCTION(unsigned, __reduce_add_sync, unsigned, ADD)
CUDA_REDUCTION(int, __reduce_add_sync, int, ADD)
CUDA_REDUCTION(unsigned, __reduce_min_sync, unsigned, MIN)
CUDA_REDUCTION(int, __reduce_min_sync, int, MIN_SIGNED)
CUDA_REDUCTION(unsigned, __reduce_max_sync, unsigned, MAX)
CUDA_REDUCTION(int, __reduce_max_sync, int, MAX_SIGNED)
CUDA_REDUCTION(unsigned, __reduce_and_sync, unsigned, AND)
CUDA_REDUCTION(unsigned, __reduce_or_sync, unsigned, OR)
CUDA_REDUCTION(unsigned, __reduce_xor_sync, unsigned, EXOR)
#undef CUDA_REDUCTION

#endif
