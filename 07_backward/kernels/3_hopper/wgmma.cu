/*
 * Five products on Hopper's units.                                        mma's accesses
 *
 * Like mma, but one thread issues TMA copies, and two warpgroups multiply. Tiles go from last to
 * first: with a causal mask, keys masked in one are masked in all that follow, so their K, perhaps
 * NaN, becomes 0.
 *
 * Margin: FlashAttention-2, Algorithm 2.
 */
#include "07_backward/kernels/parts/wgmma.cuh"

// clang-format off

enum { STAGES = 2 };

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS, 1)
    wgmma_tile(struct attention p, struct backward_arrays a, const __grid_constant__ struct backward_maps maps)
{
    enum { Bc = TRAITS::KEYS, Br = TRAITS::QUERIES, HEAD_DIM = TRAITS::D };
    enum { K_BYTES = Bc * HEAD_DIM * 2, Q_BYTES = Br * HEAD_DIM * 2 };
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t loaded[STAGES];
    unsigned char *const K = smem, *const V = K + K_BYTES, *const query_stages = V + K_BYTES;  // Q, dO, Q, dO
    unsigned char *const dS = query_stages + STAGES * 2 * Q_BYTES;
    float *const statistics = (float *)(dS + Bc * Br * 2);                              // lse, D, lse, D
    const int Nq = (int)p.Nq, j0 = (int)blockIdx.x * Bc, heads_per_kv = (int)p.H / (int)p.Hkv;
    const int last = (Nq - 1) / Br, rounds = (last - first_tile<Br>(p, j0) + 1) * heads_per_kv;
    const int first_head = (int)(blockIdx.y * p.H / p.Hkv);
    const auto head_of = [&](int r) { return first_head + r % heads_per_kv; };
    const auto row_of = [&](int r) { return (last - r / heads_per_kv) * Br; };
    const auto tma_load_queries = [&](int r) {
        unsigned char *const Q = query_stages + r % STAGES * 2 * Q_BYTES;
        mbarrier_arrive_expect(&loaded[r % STAGES], 2 * Q_BYTES + (r == 0 ? 2 * K_BYTES : 0));
        tma_load_rows<Br, HEAD_DIM>(Q, &maps.Q, &loaded[r % STAGES], row_of(r), head_of(r));
        tma_load_rows<Br, HEAD_DIM>(Q + Q_BYTES, &maps.dO, &loaded[r % STAGES], row_of(r), head_of(r));
    };
    const auto load_statistics = [&](int r) {
        const size_t row = (size_t)head_of(r) * p.Nq;
        copy_statistics<TRAITS>(statistics + r % STAGES * 2 * Br, a.lse + row, a.D + row, row_of(r), Br, Nq);
        cp_async_commit();
    };
    const unsigned char *const my_K = rows_of_group(K), *const my_V = rows_of_group(V);
    fragments<TRAITS> dK, dV;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&loaded[s], 1);
        fence_async();
        if (rounds > 0) {
            tma_load_queries(0);                                             // 9
            tma_load_rows<Bc, HEAD_DIM>(K, &maps.K, &loaded[0], j0, (int)blockIdx.y);  // 6
            tma_load_rows<Bc, HEAD_DIM>(V, &maps.V, &loaded[0], j0, (int)blockIdx.y);
        }
    }
    if (rounds > 0)
        load_statistics(0);
    cp_async_wait<0>();
    __syncthreads();
    begin(&dK);                                                              // 7
    begin(&dV);
    for (int r = 0; r < rounds; r++) {                                       // 8
        const unsigned char *const Q = query_stages + r % STAGES * 2 * Q_BYTES, *const dO = Q + Q_BYTES;
        const float *const lse = statistics + r % STAGES * 2 * Br, *const D_i = lse + Br;
        const int i0 = row_of(r);
        unsigned P[Br / 16][4], packed[Br / 16][4];
        float dQ[32];
        if (r + 1 < rounds) {
            if (threadIdx.x == 0)
                tma_load_queries(r + 1);                                     // 9
            load_statistics(r + 1);
        }
        mbarrier_wait(&loaded[r % STAGES], r / STAGES % 2);
        issue_scores<T>(&dV, my_K, Q);                                       // 10
        issue_scores<T>(&dK, my_V, dO);                                      // 13
        wgmma_wait<1>(flat<Br / 2>(dV.S));
        weights_of_keys(&dV, p, lse, j0, i0);                                // 11
        pack_weights<T>(&dV, P);
        issue_product<T>(&dV, P, dO);                                        // 12
        wgmma_wait<1>(flat<Br / 2>(dK.S));
        dS_of_keys(&dK, dV, D_i);                                            // 14
        pack_weights<T>(&dK, packed);
        share_dS<TRAITS>(dS, packed);
        fence_async();    // visible to tensor cores
        __syncthreads();  // dS is complete; scores have read K
        if (const int keys = keys_attended(p, min(i0 + Br, Nq) - 1) - j0; keys < Bc) {
            zero_keys<TRAITS>(K, keys);
            fence_async();
            __syncthreads();
        }
        issue_dQ<T, TRAITS>(dQ, dS, K);                                      // 15
        issue_product<T>(&dK, packed, Q);                                    // 16
        wgmma_wait<1>(dQ, P);  // dQ is ready; dK still runs
        float *const to = a.dQ + ((size_t)head_of(r) * p.Nq + (size_t)i0) * HEAD_DIM;
        for (int n = 0; n < 32; n++)
            if (i0 + row_of_dQ<TRAITS>(n) < Nq)
                atomicAdd(&to[row_of_dQ<TRAITS>(n) * HEAD_DIM + element_of_dQ<TRAITS>(n)], p.scale * dQ[n]);
        wgmma_wait<0>(flat<HEAD_DIM / 2>(dK.O), flat<HEAD_DIM / 2>(dV.O), packed);
        cp_async_wait<0>();
        __syncthreads();  // tile is free; next lse and D are loaded
    }
    const size_t key = (size_t)blockIdx.y * p.Nk + (size_t)j0;
    store_gradient(&dK, a.dK + key * HEAD_DIM, (int)p.Nk - j0, p.scale);     // 18
    store_gradient(&dV, a.dV + key * HEAD_DIM, (int)p.Nk - j0, 1.0f);
}

// clang-format on

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    typedef key_traits<HEAD_DIM, HOPPER_QUERIES(HEAD_DIM), HOPPER_M_TILES, HOPPER_WARPS> shape;
    const dim3 grid(ceil_div(p->Nk, shape::KEYS), (unsigned)(p->B * p->Hkv));
    const size_t elements =
        (2 * shape::KEYS + 2 * STAGES * shape::QUERIES) * HEAD_DIM + shape::KEYS * shape::QUERIES;
    const size_t bytes = elements * sizeof(T) + 2 * STAGES * shape::QUERIES * sizeof(float);
    allow_shared<wgmma_tile<T, shape>>(bytes);
    const struct backward_maps maps = make_backward_maps<T, shape>(p, a);
    wgmma_tile<T, shape><<<grid, shape::THREADS, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_wgmma)(const struct attention *p, const struct backward_arrays *a,
                                         cudaStream_t stream)
{
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, dQ_bytes(p), stream));  // 3
    LAUNCHER(backward_D)(p, a, stream);                          // 4
    TENSOR_LAUNCH(launch, p, a, stream);
}
