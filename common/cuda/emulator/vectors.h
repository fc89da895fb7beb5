/*
 * CUDA's small vectors and dim3. 16-byte vectors are aligned, as on a GPU, where one instruction
 * loads them. Instrumented copies are written out as one access, because compilers may copy element
 * by element.
 */
#ifndef COMMON_CUDA_VECTORS_H
#define COMMON_CUDA_VECTORS_H

#include "common/cuda/emulator/site.h"

#include <cstddef>

#ifdef CUDA_INSTRUMENTED
template <std::size_t bytes> struct cuda_whole {
    typedef char type __attribute__((vector_size(bytes), may_alias));
};
#define CUDA_COPIED_WHOLE(name)                                                     \
    name() = default;                                                               \
    CUDA_IN_LINE name(const name &from)                                             \
    {                                                                               \
        *this = from;                                                               \
    }                                                                               \
    CUDA_IN_LINE name &operator=(const name &from)                                  \
    {                                                                               \
        using whole = cuda_whole<sizeof(name)>::type;                               \
        *reinterpret_cast<whole *>(this) = *reinterpret_cast<const whole *>(&from); \
        return *this;                                                               \
    }
#define CUDA_MADE_OF_TWO(name, type)              \
    CUDA_COPIED_WHOLE(name)                       \
    name(type of_x, type of_y) : x(of_x), y(of_y) \
    {                                             \
    }
#define CUDA_MADE_OF_FOUR(name, type)                                                     \
    CUDA_COPIED_WHOLE(name)                                                               \
    name(type of_x, type of_y, type of_z, type of_w) : x(of_x), y(of_y), z(of_z), w(of_w) \
    {                                                                                     \
    }
#else
#define CUDA_MADE_OF_TWO(name, type)
#define CUDA_MADE_OF_FOUR(name, type)
#endif

#define CUDA_VECTORS(type, name)                                         \
    struct alignas(2 * sizeof(type)) name##2                             \
    {                                                                    \
        type x, y;                                                       \
        CUDA_MADE_OF_TWO(name##2, type)                                  \
    };                                                                   \
    struct name##3                                                       \
    {                                                                    \
        type x, y, z;                                                    \
    };                                                                   \
    struct alignas(16) name##4                                           \
    {                                                                    \
        type x, y, z, w;                                                 \
        CUDA_MADE_OF_FOUR(name##4, type)                                 \
    };                                                                   \
    static inline name##2 make_##name##2(type x, type y)                 \
    {                                                                    \
        return { x, y };                                                 \
    }                                                                    \
    static inline name##3 make_##name##3(type x, type y, type z)         \
    {                                                                    \
        return { x, y, z };                                              \
    }                                                                    \
    static inline name##4 make_##name##4(type x, type y, type z, type w) \
    {                                                                    \
        return { x, y, z, w };                                           \
    }
CUDA_VECTORS(unsigned, uint)
CUDA_VECTORS(float, float)
#undef CUDA_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
        : x(of_x), y(of_y), z(of_z)
    {
    }
    constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z)
    {
    }
};

#endif
