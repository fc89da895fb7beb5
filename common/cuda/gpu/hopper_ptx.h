/* hopper.h for a GPU, all but wgmma. "memory": the instruction accesses memory. */
#ifndef COMMON_CUDA_HOPPER_PTX_H
#define COMMON_CUDA_HOPPER_PTX_H

#include "common/cuda/gpu/tensor_ptx.h"

#include <cuda.h>
#include <stdint.h>

typedef CUtensorMap tensor_map;

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CUDA_PTX_90(...) asm volatile(__VA_ARGS__)
#else
#define CUDA_PTX_90(...) __trap()
#endif

// ---- mbarrier -----------------------------------------------------------------------------------

__device__ static inline void mbarrier_init(uint64_t *bar, unsigned count)
{
    CUDA_PTX_90("mbarrier.init.shared::cta.b64 [%0], %1;"
                :
                : "r"(shared_address(bar)), "r"(count)
                : "memory");
}

__device__ static inline void mbarrier_arrive(uint64_t *bar)
{
    CUDA_PTX_90("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(shared_address(bar)) : "memory");
}

__device__ static inline void mbarrier_arrive_expect(uint64_t *bar, unsigned bytes)
{
    CUDA_PTX_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                :
                : "r"(shared_address(bar)), "r"(bytes)
                : "memory");
}

/* try_wait sleeps for a limited time. */
__device__ static inline void mbarrier_wait(uint64_t *bar, unsigned parity)
{
    unsigned over = 0;
    while (!over)
        CUDA_PTX_90("{\n\t.reg .pred p;\n\t"
                    "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                    "selp.b32 %0, 1, 0, p;\n\t}"
                    : "=r"(over)
                    : "r"(shared_address(bar)), "r"(parity)
                    : "memory");
}

__device__ static inline void fence_async(void)
{
    CUDA_PTX_90("fence.proxy.async.shared::cta;" : : : "memory");
}

__device__ static inline void fence_async_global(void)
{
    CUDA_PTX_90("fence.proxy.async.global;" : : : "memory");
}

// ---- copies -------------------------------------------------------------------------------------

#define CUDA_TMA(dimensions, coordinates, ...)                                               \
    CUDA_PTX_90(                                                                             \
        "cp.async.bulk.tensor." dimensions                                                   \
        ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates \
        "}], [%2];"                                                                          \
        :                                                                                    \
        : "r"(shared_address(to)), "l"(map), "r"(shared_address(bar)), __VA_ARGS__           \
        : "memory")

__device__ static inline void tma_load(void *to, const tensor_map *map, uint64_t *bar, int x, int y)
{
    CUDA_TMA("2d", "%3, %4", "r"(x), "r"(y));
}

__device__ static inline void tma_load(void *to, const tensor_map *map, uint64_t *bar, int x, int y,
                                       int z)
{
    CUDA_TMA("3d", "%3, %4, %5", "r"(x), "r"(y), "r"(z));
}

__device__ static inline void tma_load(void *to, const tensor_map *map, uint64_t *bar, int x, int y,
                                       int z, int w)
{
    CUDA_TMA("4d", "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(w));
}
#undef CUDA_TMA

__device__ static inline void tma_store(const tensor_map *map, const void *from, int x, int y,
                                        int z)
{
    CUDA_PTX_90(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
        :
        : "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(from))
        : "memory");
}

__device__ static inline void tma_add(const tensor_map *map, const float *from, int x, int y, int z)
{
    CUDA_PTX_90("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
                "[%0, {%1, %2, %3}], [%4];"
                :
                : "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(from))
                : "memory");
}

__device__ static inline void bulk_add(float *to, const float *from, unsigned bytes)
{
    CUDA_PTX_90("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                :
                : "l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(bytes)
                : "memory");
}

__device__ static inline void bulk_commit(void)
{
    CUDA_PTX_90("cp.async.bulk.commit_group;" : : : "memory");
}

template <int N> __device__ static inline void bulk_wait(void)
{
    CUDA_PTX_90("cp.async.bulk.wait_group %0;" : : "n"(N) : "memory");
}

template <int N> __device__ static inline void bulk_wait_read(void)
{
    CUDA_PTX_90("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}

template <class T> struct tensor_map_type;
template <> struct tensor_map_type<__half> {
    enum { is = CU_TENSOR_MAP_DATA_TYPE_FLOAT16 };
};
template <> struct tensor_map_type<__nv_bfloat16> {
    enum { is = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 };
};
template <> struct tensor_map_type<float> {
    enum { is = CU_TENSOR_MAP_DATA_TYPE_FLOAT32 };
};

/* Looks the driver's function up at run time, so that programs need not link with it. */
template <class T>
static inline cudaError_t tensor_map_make(tensor_map *map, const T *array, unsigned rank,
                                          const uint64_t *size, const uint64_t *stride,
                                          const uint32_t *box)
{
    typedef CUresult encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                            const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                            const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static const cuuint32_t every[4] = { 1, 1, 1, 1 };
    static void *function;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
    if (!function) {
        const cudaError_t error = cudaGetDriverEntryPointByVersion(
            "cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
        if (error != cudaSuccess || found != cudaDriverEntryPointSuccess)
            return error != cudaSuccess ? error : cudaErrorInsufficientDriver;
    }
    const CUresult made = ((encode *)function)(
        map, (CUtensorMapDataType)tensor_map_type<T>::is, rank, (void *)array, size, stride, box,
        every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- barriers, registers, lanes -----------------------------------------------------------------

__device__ static inline void barrier_sync(unsigned id, unsigned threads)
{
    CUDA_PTX_90("barrier.sync.aligned %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

__device__ static inline void barrier_arrive(unsigned id, unsigned threads)
{
    CUDA_PTX_90("barrier.arrive.aligned %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

template <int N> __device__ static inline void setmaxnreg_inc(void)
{
    CUDA_PTX_90("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(N));
}

template <int N> __device__ static inline void setmaxnreg_dec(void)
{
    CUDA_PTX_90("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(N));
}

__device__ static inline bool elect_one(void)
{
    unsigned me = 0;
    CUDA_PTX_90("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.b32 %0, 1, 0, p;\n\t}"
                : "=r"(me));
    return me != 0;
}

__device__ static inline void stmatrix(void *row, const unsigned (&r)[1])
{
    CUDA_PTX_90("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
                :
                : "r"(shared_address(row)), "r"(r[0])
                : "memory");
}

__device__ static inline void stmatrix(void *row, const unsigned (&r)[2])
{
    CUDA_PTX_90("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                :
                : "r"(shared_address(row)), "r"(r[0]), "r"(r[1])
                : "memory");
}

__device__ static inline void stmatrix(void *row, const unsigned (&r)[4])
{
    CUDA_PTX_90("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                :
                : "r"(shared_address(row)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                : "memory");
}

#endif
