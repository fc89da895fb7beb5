/*
 * Atomic functions on device and shared memory. They are real atomics, because blocks run on
 * several cores.
 */
#ifndef COMMON_CUDA_ATOMICS_H
#define COMMON_CUDA_ATOMICS_H

#include "common/cuda/language.h"

#include <type_traits>

namespace cpu
{

enum atomic_kind {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_SET,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR
};

template <class T>
constexpr bool is_whole =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>;
template <class T>
constexpr bool can_be_added = is_whole<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/* *p = how(*p, value); returns the old value. Instantiated in atomics.cpp. */
template <class T> T atomic(T *p, T value, atomic_kind how);
template <class T> T atomic_swap_if(T *p, T expected, T value);

}  // namespace cpu

inline namespace CUDA_BUILD
{
/* The value converts to the type of *p. */
#define CUDA_ATOMIC(name, how, types)                                         \
    template <class T> CUDA_IN_LINE T name(T *p, std::common_type_t<T> value) \
    {                                                                         \
        static_assert(cpu::types<T>, "not a type for " #name);                \
        return cpu::atomic(p, value, cpu::how);                               \
    }
CUDA_ATOMIC(atomicAdd, ATOMIC_ADD, can_be_added)
CUDA_ATOMIC(atomicExch, ATOMIC_SET, can_be_added)
CUDA_ATOMIC(atomicMin, ATOMIC_MIN, is_whole)
CUDA_ATOMIC(atomicMax, ATOMIC_MAX, is_whole)
CUDA_ATOMIC(atomicAnd, ATOMIC_AND, is_whole)
CUDA_ATOMIC(atomicOr, ATOMIC_OR, is_whole)
CUDA_ATOMIC(atomicXor, ATOMIC_XOR, is_whole)
#undef CUDA_ATOMIC

template <class T> CUDA_IN_LINE T atomicSub(T *p, std::common_type_t<T> value)
{
    static_assert(cpu::is_whole<T>, "not a type for atomicSub");
    return cpu::atomic(p, T(0 - value), cpu::ATOMIC_ADD);
}

template <class T>
CUDA_IN_LINE T atomicCAS(T *p, std::common_type_t<T> expected, std::common_type_t<T> value)
{
    static_assert(cpu::is_whole<T>, "not a type for atomicCAS");
    return cpu::atomic_swap_if(p, expected, value);
}
}  // namespace CUDA_BUILD

#endif
