/*
 * wgmma for a GPU. An instruction names all its registers, so each N has its own text: operands %0
 * … are d, then a, b, add. Another N needs a row of CUDA_WGMMA, a text and a list of floats.
 */
#ifndef COMMON_CUDA_WGMMA_PTX_H
#define COMMON_CUDA_WGMMA_PTX_H

#include "common/cuda/gpu/hopper_ptx.h"

/* Bits 0 to 13: address; 16 to 29, 32 to 45: strides, in 16 bytes; 62: 128-byte swizzle. */
__device__ static inline uint64_t wgmma_matrix(const void *begin, unsigned leading, unsigned stride)
{
    return (uint64_t)(shared_address(begin) >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 |
           (uint64_t)(stride >> 4) << 32 | (uint64_t)1 << 62;
}

/* Only bits 0 to 13 change: a 64-bit addition would take twice as many instructions. */
__device__ static inline uint64_t wgmma_further(uint64_t matrix, unsigned bytes)
{
    return (matrix & 0xffffffff00000000) | ((unsigned)matrix + (bytes >> 4));
}

// clang-format off
#define CUDA_TEXT_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define CUDA_TEXT_16 CUDA_TEXT_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define CUDA_TEXT_24 CUDA_TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define CUDA_TEXT_32 CUDA_TEXT_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define CUDA_TEXT_40 CUDA_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define CUDA_TEXT_48 CUDA_TEXT_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define CUDA_TEXT_64 CUDA_TEXT_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define CUDA_TEXT_88 CUDA_TEXT_64 \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
    ", %80, %81, %82, %83, %84, %85, %86, %87"
#define CUDA_TEXT_96 CUDA_TEXT_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define CUDA_TEXT_128 CUDA_TEXT_96 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define CUDA_FLOATS_8(k)  "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3]), "+f"(d[k + 4]), "+f"(d[k + 5]), \
    "+f"(d[k + 6]), "+f"(d[k + 7])
#define CUDA_FLOATS_16(k) CUDA_FLOATS_8(k), CUDA_FLOATS_8(k + 8)
#define CUDA_FLOATS_32(k) CUDA_FLOATS_16(k), CUDA_FLOATS_16(k + 16)
#define CUDA_FLOATS_40(k) CUDA_FLOATS_32(k), CUDA_FLOATS_8(k + 32)
#define CUDA_FLOATS_48(k) CUDA_FLOATS_32(k), CUDA_FLOATS_16(k + 32)
#define CUDA_FLOATS_64(k) CUDA_FLOATS_32(k), CUDA_FLOATS_32(k + 32)
#define CUDA_FLOATS_88(k) CUDA_FLOATS_48(k), CUDA_FLOATS_40(k + 48)
#define CUDA_FLOATS_96(k) CUDA_FLOATS_48(k), CUDA_FLOATS_48(k + 48)
#define CUDA_FLOATS_128(k) CUDA_FLOATS_64(k), CUDA_FLOATS_64(k + 64)
// clang-format on

/*
 * x0 to x6: operand numbers after d. For `shared`: a, b, add, a's major, b's; for `registers`: a's
 * four, b, add, b's major.
 */
#define CUDA_WGMMA_OF(R, n, type, T, x0, x1, x2, x3, x4, x5, x6)                                   \
    template <> struct wgmma_instruction<T, R> {                                                   \
        template <int A_MAJOR, int B_MAJOR>                                                        \
        __device__ static inline void shared(float (&d)[R], uint64_t A, uint64_t B, int more)      \
        {                                                                                          \
            CUDA_PTX_90("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " x2 ", 0;\n\t"                      \
                        "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type             \
                        " {" CUDA_TEXT_##R "}, " x0 ", " x1 ", p, 1, 1, " x3 ", " x4 ";\n\t}"      \
                        : CUDA_FLOATS_##R(0)                                                       \
                        : "l"(A), "l"(B), "r"(more), "n"(A_MAJOR), "n"(B_MAJOR)                    \
                        : "memory");                                                               \
        }                                                                                          \
        template <int B_MAJOR>                                                                     \
        __device__ static inline void registers(float (&d)[R], const unsigned (&A)[4], uint64_t B, \
                                                int more)                                          \
        {                                                                                          \
            CUDA_PTX_90(                                                                           \
                "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " x5 ", 0;\n\t"                              \
                "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" CUDA_TEXT_##R  \
                "}, {" x0 ", " x1 ", " x2 ", " x3 "}, " x4 ", p, 1, 1, " x6 ";\n\t}"               \
                : CUDA_FLOATS_##R(0)                                                               \
                : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B), "r"(more), "n"(B_MAJOR)      \
                : "memory");                                                                       \
        }                                                                                          \
    };
#define CUDA_WGMMA(R, n, ...)                       \
    CUDA_WGMMA_OF(R, n, "f16", __half, __VA_ARGS__) \
    CUDA_WGMMA_OF(R, n, "bf16", __nv_bfloat16, __VA_ARGS__)

template <class T, int R> struct wgmma_instruction;
CUDA_WGMMA(32, "64", "%32", "%33", "%34", "%35", "%36", "%37", "%38")
CUDA_WGMMA(40, "80", "%40", "%41", "%42", "%43", "%44", "%45", "%46")
CUDA_WGMMA(48, "96", "%48", "%49", "%50", "%51", "%52", "%53", "%54")
CUDA_WGMMA(64, "128", "%64", "%65", "%66", "%67", "%68", "%69", "%70")
CUDA_WGMMA(88, "176", "%88", "%89", "%90", "%91", "%92", "%93", "%94")
CUDA_WGMMA(96, "192", "%96", "%97", "%98", "%99", "%100", "%101", "%102")
CUDA_WGMMA(128, "256", "%128", "%129", "%130", "%131", "%132", "%133", "%134")
#undef CUDA_WGMMA
#undef CUDA_WGMMA_OF

template <class T, wgmma_major MAJOR, wgmma_major A_MAJOR = K_MAJOR, int R>
__device__ static inline void wgmma(float (&d)[R], uint64_t a, uint64_t b, bool add)
{
    wgmma_instruction<T, R>::template shared<A_MAJOR, MAJOR>(d, a, b, add);
}

template <class T, wgmma_major MAJOR, int R>
__device__ static inline void wgmma(float (&d)[R], const unsigned (&a)[4], uint64_t b, bool add)
{
    wgmma_instruction<T, R>::template registers<MAJOR>(d, a, b, add);
}

__device__ static inline void wgmma_fence(void)
{
    CUDA_PTX_90("wgmma.fence.sync.aligned;" : : : "memory");
}

__device__ static inline void wgmma_commit(void)
{
    CUDA_PTX_90("wgmma.commit_group.sync.aligned;" : : : "memory");
}

/* Keeps the compiler from moving uses before the wait. */
template <int R> __device__ static inline void wgmma_landed(float (&d)[R])
{
    for (int k = 0; k < R; k++)
        asm volatile("" : "+f"(d[k]) : : "memory");
}

/* Keeps the compiler from reusing registers that a product reads. */
template <int R> __device__ static inline void wgmma_landed(unsigned (&a)[R][4])
{
    for (int k = 0; k < R; k++)
        for (int r = 0; r < 4; r++)
            asm volatile("" : "+r"(a[k][r]) : : "memory");
}

template <int N, class... FRAGMENTS> __device__ static inline void wgmma_wait(FRAGMENTS &...of)
{
    CUDA_PTX_90("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
    (wgmma_landed(of), ...);
}

#endif
