#include "common/cuda/emulator/atomics.h"

#include "common/cuda/emulator/diagnostics/watch.h"
#include "common/cuda/emulator/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cpu
{

template <class T> using bits_of = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T> static T changed(T old, T value, atomic_kind how)
{
    if constexpr (std::is_integral_v<T>) {
        switch (how) {
        case ATOMIC_MIN:
            return std::min(old, value);
        case ATOMIC_MAX:
            return std::max(old, value);
        case ATOMIC_AND:
            return old & value;
        case ATOMIC_OR:
            return old | value;
        case ATOMIC_XOR:
            return old ^ value;
        default:
            break;
        }
    }
    if (how == ATOMIC_SET)
        return value;
    if constexpr (std::is_same_v<T, int>)
        return int(unsigned(old) + unsigned(value));  // wraps, as on a GPU
    else
        return old + value;
}

template <class T> T atomic(T *p, T value, atomic_kind how)
{
    using word = bits_of<T>;
    watch_atomic(p, sizeof *p, __builtin_return_address(0));
    if (std::is_floating_point_v<T> && how == ATOMIC_ADD)
        if (allocation *a = allocation_of(p))
            a->float_atomics = true;
    word *at = reinterpret_cast<word *>(p), before = __atomic_load_n(at, __ATOMIC_RELAXED), after;
    T old;
    do {
        memcpy(&old, &before, sizeof old);
        const T now = changed(old, value, how);
        memcpy(&after, &now, sizeof after);
    } while (
        !__atomic_compare_exchange_n(at, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

template <class T> T atomic_swap_if(T *p, T expected, T value)
{
    watch_atomic(p, sizeof *p, __builtin_return_address(0));
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

template int atomic(int *, int, atomic_kind);
template unsigned atomic(unsigned *, unsigned, atomic_kind);
template unsigned long long atomic(unsigned long long *, unsigned long long, atomic_kind);
template float atomic(float *, float, atomic_kind);
template double atomic(double *, double, atomic_kind);
template int atomic_swap_if(int *, int, int);
template unsigned atomic_swap_if(unsigned *, unsigned, unsigned);
template unsigned long long atomic_swap_if(unsigned long long *, unsigned long long,
                                           unsigned long long);

}  // namespace cpu
