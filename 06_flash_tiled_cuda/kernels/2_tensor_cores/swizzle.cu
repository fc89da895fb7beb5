/*
 * No bank is waited for.                                                 as many accesses as mma
 *
 * mma, and the pieces of a row in shared memory stand in another order (swizzle.cuh). Nothing else is new: whoever
 * writes a piece and whoever reads it ask the same function where it is.
 */
#include "06_flash_tiled_cuda/kernels/parts/swizzle.cuh"

// The numbers of the paper's lines stand in a column.
// clang-format off

template <class T, class SHAPE>
static __global__ void __launch_bounds__(SHAPE::THREADS)
    swizzle_tile(struct attention p, struct device_arrays a)
{
    enum { Br = SHAPE::BR, Bc = SHAPE::BC, D = SHAPE::D };
    typedef swizzled_rows<SHAPE> rows;
    extern __shared__ uint4 fast[];
    uint4 *const Q = fast, *const K = Q + Br * SHAPE::ROW, *const V = K + Bc * SHAPE::ROW;
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int Nk = keys_seen(p, smaller(i0 + Br, Nq) - 1);  // causal: what the last query sees
    fragments<SHAPE> me;
    load_tile<SHAPE, rows>(Q, t.Q + (size_t)i0 * D, Br, Nq - i0);            // 4
    begin(&me);                                                              // 5
    for (int j0 = 0; j0 < Nk; j0 += Bc) {                                    // 6
        __syncthreads();  // nobody reads the old K and V any more
        load_tile<SHAPE, rows>(K, t.K + (size_t)j0 * D, Bc, Nk - j0);        // 7
        load_tile<SHAPE, rows>(V, t.V + (size_t)j0 * D, Bc, Nk - j0);
        __syncthreads();  // the new ones are there, and Q
        tensor_scores<T, rows>(&me, Q, K);                                   // 8
        tensor_hide(&me, p, i0, j0);
        tensor_softmax(&me);                                                 // 9, 10
        tensor_product<T, rows>(&me, V);                                     // 10
    }
    tensor_finish(&me, t.O, t.lse, i0, Nq);                                  // 12 to 15
}

// clang-format on

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a)
{
    typedef tensor_shape<D> shape;
    const dim3 grid(pieces(p->Nq, shape::BR), (unsigned)(p->B * p->H));
    const size_t bytes = (shape::BR + 2 * shape::BC) * D * sizeof(T);
    CHECK_CUDA(cudaFuncSetAttribute(swizzle_tile<T, shape>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    swizzle_tile<T, shape><<<grid, shape::THREADS, bytes>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(swizzle)(const struct attention *p, const struct device_arrays *a)
{
    TENSOR_LAUNCH(launch, p, a);
}
