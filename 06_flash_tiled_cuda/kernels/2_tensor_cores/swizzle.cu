/*
 * No bank conflicts.                                                     mma's accesses
 *
 * mma with swizzle.cuh.
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/swizzle.cuh"

// clang-format off

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS)
    swizzle_tile(struct attention p, struct device_arrays a)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    uint4 *const Q = smem, *const K = Q + Br * TRAITS::ROW, *const V = K + Bc * TRAITS::ROW;
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    fragments<TRAITS> acc;
    load_tile<TRAITS, rows>(Q, t.Q + (size_t)i0 * D, Br, Nq - i0);           // 4
    begin(&acc);                                                             // 5
    for (int j0 = 0; j0 < attended; j0 += Bc) {                              // 6
        __syncthreads();
        load_tile<TRAITS, rows>(K, t.K + (size_t)j0 * D, Bc, attended - j0);  // 7
        load_tile<TRAITS, rows>(V, t.V + (size_t)j0 * D, Bc, attended - j0);
        __syncthreads();
        tensor_scores<T, rows>(&acc, Q, K);                                  // 8
        tensor_mask(&acc, p, i0, j0);
        tensor_softmax(&acc);                                                // 9, 10
        tensor_product<T, rows>(&acc, V);                                    // 10
    }
    tensor_finish(&acc, t.O, t.lse, i0, Nq);                                 // 12 to 15
}

// clang-format on

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    typedef kernel_traits<D> shape;
    const dim3 grid(ceil_div(p->Nq, shape::BR), (unsigned)(p->B * p->H));
    const size_t bytes = (shape::BR + 2 * shape::BC) * D * sizeof(T);
    allow_shared<swizzle_tile<T, shape>>(bytes);
    swizzle_tile<T, shape><<<grid, shape::THREADS, bytes, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(swizzle)(const struct attention *p, const struct device_arrays *a,
                                  cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}
