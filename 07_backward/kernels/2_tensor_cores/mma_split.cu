/*
 * A reproducible backward pass on tensor cores.
 *
 *     (3 + Tc) Nq d + (3 + Tr) Nk d + (3 + 2 Tc) Nq accesses of 4 bytes
 *
 * Like deterministic, with mma. For dK and dV rows are keys, S^T = K Q^T; for dQ, queries. So P and
 * dS, packed, are the next product's A, and never leave registers.
 *
 * Margin: FlashAttention-2, Algorithm 2.
 */
#include "07_backward/kernels/parts/tensor.cuh"

// clang-format off

enum { STAGES = 2 };

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS)
    split_keys(struct attention p, struct backward_arrays a)
{
    enum { Bc = TRAITS::KEYS, Br = TRAITS::QUERIES, HEAD_DIM = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    uint4 *const K = smem, *const V = K + Bc * TRAITS::ROW;
    float *const statistics = (float *)(V + (Bc + 2 * STAGES * Br) * TRAITS::ROW);
    const backward_head<T> t = backward_head_of<T>(p, a, blockIdx.y);
    const int j0 = (int)blockIdx.x * Bc, Nq = (int)p.Nq, attended = keys_attended(p, Nq - 1);
    int n = first_tile<Br>(p, j0);
    fragments<TRAITS> dK, dV;
    copy_tile<TRAITS, rows>(K, t.K + (size_t)j0 * HEAD_DIM, Bc, attended - j0);  // 6
    copy_tile<TRAITS, rows>(V, t.V + (size_t)j0 * HEAD_DIM, Bc, attended - j0);
    copy_statistics<TRAITS>(statistics + n % STAGES * 2 * Br, t.lse, t.D, n * Br, Br, Nq);
    copy_keys<TRAITS, STAGES, rows>(V, n, t.Q, t.dO, n, Nq);                 // 9
    begin(&dK);                                                              // 7
    begin(&dV);
    for (; n * Br < Nq; n++) {                                               // 8
        cp_async_wait<0>();
        __syncthreads();              // tile n is complete, n - 1 free
        copy_statistics<TRAITS>(statistics + (n + 1) % STAGES * 2 * Br, t.lse, t.D, (n + 1) * Br, Br, Nq);
        copy_keys<TRAITS, STAGES, rows>(V, n + 1, t.Q, t.dO, n + 1, Nq);     // 9
        const uint4 *const Q = stage_of<TRAITS, STAGES>(V, n), *const dO = Q + Br * TRAITS::ROW;
        const float *const lse = statistics + n % STAGES * 2 * Br, *const D_i = lse + Br;
        tensor_scores<T, rows>(&dV, K, Q);                                   // 10
        weights_of_keys(&dV, p, lse, j0, n * Br);                            // 11
        tensor_product<T, rows>(&dV, dO);                                    // 12
        tensor_scores<T, rows>(&dK, V, dO);                                  // 13
        dS_of_keys(&dK, dV, D_i);                                            // 14
        tensor_product<T, rows>(&dK, Q);                                     // 16
    }
    cp_async_wait<0>();
    store_gradient(&dK, t.dK + (size_t)j0 * HEAD_DIM, (int)p.Nk - j0, p.scale);  // 18
    store_gradient(&dV, t.dV + (size_t)j0 * HEAD_DIM, (int)p.Nk - j0, 1.0f);
}

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS)
    split_queries(struct attention p, struct backward_arrays a)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, HEAD_DIM = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    uint4 *const Q = smem, *const dO = Q + Br * TRAITS::ROW;
    float *const lse = (float *)(dO + (Br + 2 * STAGES * Bc) * TRAITS::ROW), *const D_i = lse + Br;
    const backward_head<T> t = backward_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    fragments<TRAITS> P, dQ;
    copy_tile<TRAITS, rows>(Q, t.Q + (size_t)i0 * HEAD_DIM, Br, Nq - i0);    // 9
    copy_tile<TRAITS, rows>(dO, t.dO + (size_t)i0 * HEAD_DIM, Br, Nq - i0);
    copy_statistics<TRAITS>(lse, t.lse, t.D, i0, Br, Nq);
    copy_keys<TRAITS, STAGES, rows>(dO, 0, t.K, t.V, 0, attended);           // 6
    begin(&dQ);
    for (int n = 0; n * Bc < attended; n++) {
        cp_async_wait<0>();
        __syncthreads();
        copy_keys<TRAITS, STAGES, rows>(dO, n + 1, t.K, t.V, n + 1, attended);  // 6
        const uint4 *const K = stage_of<TRAITS, STAGES>(dO, n), *const V = K + Bc * TRAITS::ROW;
        tensor_scores<T, rows>(&P, Q, K);                                    // 10
        weights_of_queries(&P, p, lse, i0, n * Bc);                          // 11
        tensor_scores<T, rows>(&dQ, dO, V);                                  // 13
        dS_of_queries(&dQ, P, D_i);                                          // 14
        tensor_product<T, rows>(&dQ, K);                                     // 15
    }
    cp_async_wait<0>();
    store_gradient(&dQ, t.dQ + (size_t)i0 * HEAD_DIM, Nq - i0, p.scale);
}

// clang-format on

template <class TRAITS> constexpr size_t bytes_with_statistics(int queries)
{
    return pipeline_bytes<TRAITS, STAGES>() + (size_t)TRAITS::BR * TRAITS::D * 2 +
           2 * (size_t)queries * sizeof(float);
}

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    typedef key_traits<HEAD_DIM, KEYS_BR(HEAD_DIM), KEYS_M_TILES(HEAD_DIM),
                       KEYS_BC(HEAD_DIM) / 16 / KEYS_M_TILES(HEAD_DIM)>
        keys;
    typedef kernel_traits<HEAD_DIM, QUERIES_BC(HEAD_DIM), 2, QUERIES_BR(HEAD_DIM) / 32> queries;
    const unsigned heads = (unsigned)(p->B * p->H);
    const size_t of_keys = bytes_with_statistics<keys>(STAGES * keys::QUERIES);
    const size_t of_queries = bytes_with_statistics<queries>(queries::BR);
    allow_shared<split_keys<T, keys>>(of_keys);
    allow_shared<split_queries<T, queries>>(of_queries);
    const dim3 key_blocks(ceil_div(p->Nk, keys::KEYS), heads);
    const dim3 query_blocks(ceil_div(p->Nq, queries::BR), heads);
    split_keys<T, keys><<<key_blocks, keys::THREADS, of_keys, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    split_queries<T, queries><<<query_blocks, queries::THREADS, of_queries, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_mma_split)(const struct attention *p,
                                             const struct backward_arrays *a, cudaStream_t stream)
{
    LAUNCHER(backward_D)(p, a, stream);  // 4
    TENSOR_LAUNCH(launch, p, a, stream);
}
