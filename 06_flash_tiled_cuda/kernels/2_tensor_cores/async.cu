/*
 * The next tile is copied while this one is computed.                    mma's accesses
 *
 * Like swizzle, with two stages (pipeline.cuh) and one barrier per tile.
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/pipeline.cuh"

// clang-format off

template <class T, class TRAITS, int STAGES>
static __global__ void __launch_bounds__(TRAITS::THREADS)
    async_tile(struct attention p, struct device_arrays a)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    fragments<TRAITS> acc;
    copy_tile<TRAITS, rows>(smem, t.Q + (size_t)i0 * D, Br, Nq - i0);        // 4, in the first group
    for (int n = 0; n < STAGES - 1; n++)
        copy_keys<TRAITS, STAGES, rows>(smem, n, t.K, t.V, n, attended);     // 7
    begin(&acc);                                                             // 5
    for (int n = 0; n * Bc < attended; n++) {                                // 6
        cp_async_wait<STAGES - 2>();
        __syncthreads();              // tile n is complete, n - 1 free
        const int next = n + STAGES - 1;
        copy_keys<TRAITS, STAGES, rows>(smem, next, t.K, t.V, next, attended);  // 7
        const uint4 *const K = stage_of<TRAITS, STAGES>(smem, n), *const V = K + Bc * TRAITS::ROW;
        tensor_scores<T, rows>(&acc, smem, K);                               // 8
        tensor_mask(&acc, p, i0, n * Bc);
        tensor_softmax(&acc);                                                // 9, 10
        tensor_product<T, rows>(&acc, V);                                    // 10
    }
    cp_async_wait<0>();  // without keys, Q is still pending
    tensor_finish(&acc, t.O, t.lse, i0, Nq);                                 // 12 to 15
}

// clang-format on

enum { ASYNC_STAGES = 2 };  // three gain nothing: pipeline.md

template <class T, int D, int STAGES = ASYNC_STAGES>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    typedef kernel_traits<D> shape;
    const dim3 grid(ceil_div(p->Nq, shape::BR), (unsigned)(p->B * p->H));
    const size_t bytes = pipeline_bytes<shape, STAGES>();
    allow_shared<async_tile<T, shape, STAGES>>(bytes);
    async_tile<T, shape, STAGES><<<grid, shape::THREADS, bytes, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(async)(const struct attention *p, const struct device_arrays *a,
                                cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}

#ifndef __CUDACC__  // for tests
template <class T, int D>
static void launch_three(const struct attention *p, const struct device_arrays *a,
                         cudaStream_t stream)
{
    launch<T, D, 3>(p, a, stream);
}

extern "C" void LAUNCHER(async_three)(const struct attention *p, const struct device_arrays *a,
                                      cudaStream_t stream)
{
    TENSOR_LAUNCH(launch_three, p, a, stream);
}
#endif
