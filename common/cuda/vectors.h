/*
 * CUDA's small vectors: float4 and its kin, and dim3. A vector of 16 bytes must lie at a multiple
 * of 16, as on a GPU, where one instruction loads it whole.
 */
#ifndef COMMON_CUDA_VECTORS_H
#define COMMON_CUDA_VECTORS_H

#define CUDA_VECTORS(type, name)                                         \
    struct name##1                                                       \
    {                                                                    \
        type x;                                                          \
    };                                                                   \
    struct alignas(2 * sizeof(type)) name##2                             \
    {                                                                    \
        type x, y;                                                       \
    };                                                                   \
    struct name##3                                                       \
    {                                                                    \
        type x, y, z;                                                    \
    };                                                                   \
    struct alignas(sizeof(type) > 4 ? 16 : 4 * sizeof(type)) name##4     \
    {                                                                    \
        type x, y, z, w;                                                 \
    };                                                                   \
    static inline name##1 make_##name##1(type x)                         \
    {                                                                    \
        return { x };                                                    \
    }                                                                    \
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
CUDA_VECTORS(signed char, char)
CUDA_VECTORS(unsigned char, uchar)
CUDA_VECTORS(short, short)
CUDA_VECTORS(unsigned short, ushort)
CUDA_VECTORS(int, int)
CUDA_VECTORS(unsigned, uint)
CUDA_VECTORS(long long, longlong)
CUDA_VECTORS(unsigned long long, ulonglong)
CUDA_VECTORS(float, float)
CUDA_VECTORS(double, double)
#undef CUDA_VECTORS

/* The size of a grid or a block; what is not given is 1. */
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
