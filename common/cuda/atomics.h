/*
 * Atomic functions, on device memory and on shared memory. They are real ones, because the blocks
 * of a grid run on several cores; each returns the old value.
 */
#ifndef COMMON_CUDA_ATOMICS_H
#define COMMON_CUDA_ATOMICS_H

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

/* *p = how(*p, value); defined in atomics.cpp for the types below. */
template <class T> T atomic(T *p, T value, atomic_kind how);
template <class T> T atomic_swap_if(T *p, T expected, T value);

}  // namespace cpu

#define CUDA_ATOMIC(name, type, how)             \
    static inline type name(type *p, type value) \
    {                                            \
        return cpu::atomic(p, value, cpu::how);  \
    }
#define CUDA_ATOMICS(type)                                           \
    CUDA_ATOMIC(atomicAdd, type, ATOMIC_ADD)                         \
    CUDA_ATOMIC(atomicMin, type, ATOMIC_MIN)                         \
    CUDA_ATOMIC(atomicMax, type, ATOMIC_MAX)                         \
    CUDA_ATOMIC(atomicExch, type, ATOMIC_SET)                        \
    CUDA_ATOMIC(atomicAnd, type, ATOMIC_AND)                         \
    CUDA_ATOMIC(atomicOr, type, ATOMIC_OR)                           \
    CUDA_ATOMIC(atomicXor, type, ATOMIC_XOR)                         \
    static inline type atomicCAS(type *p, type expected, type value) \
    {                                                                \
        return cpu::atomic_swap_if(p, expected, value);              \
    }
CUDA_ATOMICS(int)
CUDA_ATOMICS(unsigned)
CUDA_ATOMICS(unsigned long long)
CUDA_ATOMIC(atomicAdd, float, ATOMIC_ADD)
CUDA_ATOMIC(atomicExch, float, ATOMIC_SET)
CUDA_ATOMIC(atomicAdd, double, ATOMIC_ADD)
#undef CUDA_ATOMICS
#undef CUDA_ATOMIC

static inline int atomicSub(int *p, int value)
{
    return atomicAdd(p, -value);
}

static inline unsigned atomicSub(unsigned *p, unsigned value)
{
    return atomicAdd(p, 0 - value);
}

#endif
