/*
 * wgmma of hopper.h for a GPU. An instruction names all its registers, so there is one text for each N: operands %0 … are
 * d, and behind them come a, b and add.
 */
#ifndef COMMON_CUDA_WGMMA_PTX_H
#define COMMON_CUDA_WGMMA_PTX_H

#include "common/cuda/gpu/hopper_ptx.h"

/* Where a matrix begins (bits 0 to 13) and its steps (16 to 29, 32 to 45), in 16 bytes; 128-byte swizzle (62). */
__device__ static inline uint64_t wgmma_matrix(const void *begin, unsigned leading, unsigned stride)
{
    return (uint64_t)(shared_address(begin) >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 |
           (uint64_t)(stride >> 4) << 32 | (uint64_t)1 << 62;
}

// clang-format off
#define CUDA_TEXT_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define CUDA_TEXT_32 CUDA_TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define CUDA_TEXT_64 CUDA_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define CUDA_TEXT_128 CUDA_TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, " \
    "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, " \
    "%119, %120, %121, %122, %123, %124, %125, %126, %127"
#define CUDA_FLOATS_8(k)  "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3]), "+f"(d[k + 4]), "+f"(d[k + 5]), \
    "+f"(d[k + 6]), "+f"(d[k + 7])
#define CUDA_FLOATS_16(k) CUDA_FLOATS_8(k), CUDA_FLOATS_8(k + 8)
#define CUDA_FLOATS_32(k) CUDA_FLOATS_16(k), CUDA_FLOATS_16(k + 16)
#define CUDA_FLOATS_64(k) CUDA_FLOATS_32(k), CUDA_FLOATS_32(k + 32)
#define CUDA_FLOATS_128(k) CUDA_FLOATS_64(k), CUDA_FLOATS_64(k + 64)
// clang-format on

/* The numbers in the text of a from shared memory: a, b, add, a's major, b's; of a in registers: four, b, add, b's. */
#define CUDA_WGMMA(R, n, type, T, a, b, add, a_major, b_major, a0, a1, a2, a3, b_r, add_r,         \
                   major_r)                                                                        \
    template <> struct wgmma_instruction<T, R> {                                                   \
        template <int A_MAJOR, int B_MAJOR>                                                        \
        __device__ static inline void shared(float (&d)[R], uint64_t A, uint64_t B, int more)      \
        {                                                                                          \
            CUDA_PTX_90("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " add ", 0;\n\t"                     \
                        "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type             \
                        " {" CUDA_TEXT_##R "}, " a ", " b ", p, 1, 1, " a_major ", " b_major       \
                                           ";\n\t}"                                                \
                        : CUDA_FLOATS_##R(0)                                                       \
                        : "l"(A), "l"(B), "r"(more), "n"(A_MAJOR), "n"(B_MAJOR)                    \
                        : "memory");                                                               \
        }                                                                                          \
        template <int B_MAJOR>                                                                     \
        __device__ static inline void registers(float (&d)[R], const unsigned (&A)[4], uint64_t B, \
                                                int more)                                          \
        {                                                                                          \
            CUDA_PTX_90(                                                                           \
                "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " add_r ", 0;\n\t"                           \
                "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" CUDA_TEXT_##R  \
                "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b_r ", p, 1, 1, " major_r ";\n\t}"         \
                : CUDA_FLOATS_##R(0)                                                               \
                : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B), "r"(more), "n"(B_MAJOR)      \
                : "memory");                                                                       \
        }                                                                                          \
    };
#define CUDA_WGMMA_32(type, T)                                                                   \
    CUDA_WGMMA(32, "64", type, T, "%32", "%33", "%34", "%35", "%36", "%32", "%33", "%34", "%35", \
               "%36", "%37", "%38")
#define CUDA_WGMMA_64(type, T)                                                                    \
    CUDA_WGMMA(64, "128", type, T, "%64", "%65", "%66", "%67", "%68", "%64", "%65", "%66", "%67", \
               "%68", "%69", "%70")
#define CUDA_WGMMA_128(type, T)                                                             \
    CUDA_WGMMA(128, "256", type, T, "%128", "%129", "%130", "%131", "%132", "%128", "%129", \
               "%130", "%131", "%132", "%133", "%134")

template <class T, int R> struct wgmma_instruction;
CUDA_WGMMA_32("f16", __half)
CUDA_WGMMA_32("bf16", __nv_bfloat16)
CUDA_WGMMA_64("f16", __half)
CUDA_WGMMA_64("bf16", __nv_bfloat16)
CUDA_WGMMA_128("f16", __half)
CUDA_WGMMA_128("bf16", __nv_bfloat16)
#undef CUDA_WGMMA
#undef CUDA_WGMMA_32
#undef CUDA_WGMMA_64
#undef CUDA_WGMMA_128

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

/* The compiler must not move what uses these registers to before the wait. */
template <int R> __device__ static inline void wgmma_landed(float (&d)[R])
{
    for (int k = 0; k < R; k++)
        asm volatile("" : "+f"(d[k]) : : "memory");
}

template <int N> __device__ static inline void wgmma_wait(void)
{
    CUDA_PTX_90("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}

template <int N, int R> __device__ static inline void wgmma_wait(float (&d)[R])
{
    wgmma_wait<N>();
    wgmma_landed(d);
}

template <int N, int R, int S>
__device__ static inline void wgmma_wait(float (&d)[R], float (&other)[S])
{
    wgmma_wait<N>();
    wgmma_landed(d);
    wgmma_landed(other);
}

#endif
