/* tensor.h for a GPU. "memory" tells the compiler that the instruction accesses shared memory. */
#ifndef COMMON_CUDA_TENSOR_PTX_H
#define COMMON_CUDA_TENSOR_PTX_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define CUDA_PTX(...) asm volatile(__VA_ARGS__)
#else
#define CUDA_PTX(...) __trap()
#endif

__device__ static inline unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

template <class T>
__device__ static inline void mma(float *d, const unsigned *a, const unsigned *b);

#define CUDA_MMA(T, type)                                                                     \
    template <> __device__ inline void mma<T>(float *d, const unsigned *a, const unsigned *b) \
    {                                                                                         \
        CUDA_PTX("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 "               \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));         \
    }
CUDA_MMA(__half, "f16")
CUDA_MMA(__nv_bfloat16, "bf16")
#undef CUDA_MMA

__device__ static inline void mma_k8(float *d, const unsigned *a, unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
}

#define CUDA_LDMATRIX(name, trans)                                                               \
    __device__ static inline void name(unsigned(&r)[1], const void *row)                         \
    {                                                                                            \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];"             \
                     : "=r"(r[0])                                                                \
                     : "r"(shared_address(row))                                                  \
                     : "memory");                                                                \
    }                                                                                            \
    __device__ static inline void name(unsigned(&r)[2], const void *row)                         \
    {                                                                                            \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0, %1}, [%2];"         \
                     : "=r"(r[0]), "=r"(r[1])                                                    \
                     : "r"(shared_address(row))                                                  \
                     : "memory");                                                                \
    }                                                                                            \
    __device__ static inline void name(unsigned(&r)[4], const void *row)                         \
    {                                                                                            \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                            \
                     : "r"(shared_address(row))                                                  \
                     : "memory");                                                                \
    }
CUDA_LDMATRIX(ldmatrix, "")
CUDA_LDMATRIX(ldmatrix_trans, ".trans")
#undef CUDA_LDMATRIX

template <class T> __device__ static inline unsigned pack(float low, float high);

template <> __device__ inline unsigned pack<__half>(float low, float high)
{
    const __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned *>(&two);
}

template <> __device__ inline unsigned pack<__nv_bfloat16>(float low, float high)
{
    const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned *>(&two);
}

__device__ static inline float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static inline float reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 16-byte copies bypass the L1 cache (.cg); smaller ones cannot. */
template <int BYTES>
__device__ static inline void cp_async(void *to, const void *from, int given = BYTES)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
    if (BYTES == 16)
        CUDA_PTX("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(given)
                 : "memory");
    else
        CUDA_PTX("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(BYTES),
                   "r"(given)
                 : "memory");
}

__device__ static inline void cp_async_commit(void)
{
    CUDA_PTX("cp.async.commit_group;" : : : "memory");
}

template <int N> __device__ static inline void cp_async_wait(void)
{
    CUDA_PTX("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

#undef CUDA_PTX

#endif
