/* Margin: FlashAttention-2, Algorithm 2. */
#ifndef BACKWARD_ROLES_CUH
#define BACKWARD_ROLES_CUH

#include "06_flash_tiled_cuda/kernels/parts/full_empty.cuh"
#include "07_backward/kernels/parts/wgmma.cuh"

// clang-format off

enum { STAGES = 2, PRODUCER = 128, CONSUMERS_BARRIER = 1 };
enum { PRODUCER_REGS = 24, CONSUMER_REGS = 240 };  // registers per thread
enum { QUERIES_WARP = HOPPER_WARPS, DQ_WARP, STATISTICS_WARPS };  // after the consumers; two for statistics

template <class TRAITS> struct roles_smem {
    enum { Bc = TRAITS::KEYS, Br = TRAITS::QUERIES, K_BYTES = Bc * TRAITS::D * 2, Q_BYTES = Br * TRAITS::D * 2 };
    unsigned char K[K_BYTES], V[K_BYTES];
    struct { unsigned char Q[Q_BYTES], dO[Q_BYTES]; } queries[STAGES];
    unsigned char dS[STAGES][Bc * Br * 2], dQ[4 * DQ_BOX];
    struct { float shift[Br], D[Br]; } statistics[STAGES];  // log2(e) lse, and D
};

struct roles_block {
    pipeline<STAGES> queries;  // with their lse and D
    pipeline<1> dQ[2];         // from each warpgroup
};

/* Calls with(r, head, i0) for tiles of queries, last to first, and each head that shares keys. */
template <int Br, class WITH>
__device__ static inline void each_tile(const struct attention &p, int j0, int first_head, WITH with)
{
    int r = 0;
    const int first = first_tile<Br>(p, j0) * Br, after = first_head + (int)p.H / (int)p.Hkv;
    for (int i0 = ((int)p.Nq - 1) / Br * Br; i0 >= first; i0 -= Br)
        for (int head = first_head; head < after; head++)
            with(r++, head, i0);
}

/* dQ in any order. */
struct no_turns {
    __device__ void wait(int, int) const {}
    __device__ void pass(int, int) const {}
};

template <class TRAITS>
__device__ static inline void store_gradients(const struct attention &p, const struct backward_arrays &a,
                                              const fragments<TRAITS> *dK, const fragments<TRAITS> *dV, int j0, int kv)
{
    const size_t key = (size_t)kv * p.Nk + (size_t)j0;
    store_gradient(dK, a.dK + key * TRAITS::D, (int)p.Nk - j0, p.scale);
    store_gradient(dV, a.dV + key * TRAITS::D, (int)p.Nk - j0, 1.0f);
}

/*
 * Processes a tile of keys at j0 of head kv, then calls epilogue(&dK, &dV). One thread calls
 * turns.wait(head, i0) and turns.pass around adding a tile of dQ.
 */
template <class T, class TRAITS, class TURNS, class EPILOGUE>
__device__ static inline void block_with_roles(const struct attention &p, const struct backward_arrays &a,
                                               const struct backward_maps &maps, roles_smem<TRAITS> &smem,
                                               struct roles_block &block, int j0, int kv, TURNS turns, EPILOGUE epilogue)
{
    enum { Bc = TRAITS::KEYS, Br = TRAITS::QUERIES, HEAD_DIM = TRAITS::D };
    const int Nq = (int)p.Nq;
    const int first_head = kv * ((int)p.H / (int)p.Hkv);
    if (threadIdx.x == 0) {
        block.queries.init(Bc / GROUP_ROWS, 1 + 64);  // one thread starts the TMA, 64 load lse and D
        for (int g = 0; g < 2; g++)
            block.dQ[g].init(1, 128);
        fence_async();
    }
    __syncthreads();
    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<PRODUCER_REGS>();
        if (one_of_warp(QUERIES_WARP))
            each_tile<Br>(p, j0, first_head, [&](int r, int head, int i0) {
                auto &to = smem.queries[r % STAGES];
                block.queries.producer_acquire(r);
                uint64_t *const full = block.queries.producer_expect(r, sizeof to + (r == 0 ? sizeof smem.K + sizeof smem.V : 0));
                if (r == 0) {
                    tma_load_rows<Bc, HEAD_DIM>(smem.K, &maps.K, full, j0, kv);       // 6
                    tma_load_rows<Bc, HEAD_DIM>(smem.V, &maps.V, full, j0, kv);
                }
                tma_load_rows<Br, HEAD_DIM>(to.Q, &maps.Q, full, i0, head);           // 9
                tma_load_rows<Br, HEAD_DIM>(to.dO, &maps.dO, full, i0, head);
            });
        if (threadIdx.x / 32 >= STATISTICS_WARPS)
            each_tile<Br>(p, j0, first_head, [&](int r, int head, int i0) {
                auto &to = smem.statistics[r % STAGES];
                block.queries.producer_acquire(r);
                for (int n = 0; n < Br; n += 64) {
                    const int row = n + (int)threadIdx.x % 64, i = i0 + row;
                    const size_t at = (size_t)head * p.Nq + (size_t)i;
                    to.shift[row] = i < Nq ? shift_of(LOG2E, a.lse[at]) : 0.0f;
                    to.D[row] = i < Nq ? a.D[at] : 0.0f;
                }
                block.queries.producer_arrive(r);
            });
        if (one_of_warp(DQ_WARP))
            each_tile<Br>(p, j0, first_head, [&](int r, int head, int i0) {
                turns.wait(head, i0);
                for (int g = 0; g < 2; g++) {
                    block.dQ[g].consumer_wait(r);
                    tma_add_part<TRAITS>(&maps.dQ, smem.dQ, g, i0, head);
                    bulk_commit();
                }
                bulk_wait_read<1>();
                block.dQ[0].consumer_release(r);
                bulk_wait_read<0>();
                block.dQ[1].consumer_release(r);
                turns.pass(head, i0);
            });
        return;
    }
    setmaxnreg_inc<CONSUMER_REGS>();
    const unsigned char *const my_K = rows_of_group(smem.K), *const my_V = rows_of_group(smem.V);
    const int full_from = first_unmasked_query<TRAITS>(p, j0);
    pipeline<1> &my_dQ = block.dQ[warpgroup_number()];
    fragments<TRAITS> dK, dV;
    begin(&dK);                                                              // 7
    begin(&dV);
    each_tile<Br>(p, j0, first_head, [&](int r, int, int i0) {               // 8
        const unsigned char *const Q = smem.queries[r % STAGES].Q, *const dO = smem.queries[r % STAGES].dO;
        const auto &statistics = smem.statistics[r % STAGES];
        const bool full = i0 >= full_from && i0 + Br <= Nq;
        unsigned P[Br / 16][4], packed[Br / 16][4];
        float dQ[32];
        block.queries.consumer_wait(r);
        issue_scores<T>(&dV, my_K, Q);                                       // 10
        issue_scores<T>(&dK, my_V, dO);                                      // 13
        wgmma_wait<1>(flat<Br / 2>(dV.S));
        weights_by_shifts(&dV, p.scale * LOG2E, statistics.shift);           // 11
        if (!full)
            zero_masked(&dV, p, j0, i0);
        wgmma_wait<0>(flat<Br / 2>(dK.S));
        dS_of_full_tile(&dK, dV, statistics.D);                              // 14
        if (!full)
            zero_masked_dS(&dK, dV);
        pack_weights<T>(&dV, P);  // not earlier: P would be live twice
        pack_weights<T>(&dK, packed);
        issue_product<T>(&dV, P, dO);                                        // 12
        share_dS<TRAITS>(smem.dS[r % STAGES], packed);
        fence_async();
        barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);  // dS is complete; scores have read K
        if (const int keys = full ? Bc : keys_attended(p, min(i0 + Br, Nq) - 1) - j0; keys < Bc) {
            zero_keys<TRAITS>(smem.K, keys);
            fence_async();
            barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
        }
        issue_dQ<T, TRAITS>(dQ, smem.dS[r % STAGES], smem.K);                // 15
        issue_product<T>(&dK, packed, Q);                                    // 16
        wgmma_wait<1>(dQ, P);  // dQ is ready; dK still runs
        my_dQ.producer_acquire(r);
        share_dQ<TRAITS>(smem.dQ, dQ, p.scale);
        fence_async();      // visible to the TMA
        my_dQ.producer_arrive(r);
        wgmma_wait<0>(flat<HEAD_DIM / 2>(dK.O), flat<HEAD_DIM / 2>(dV.O), packed);
        block.queries.warpgroup_release(r);  // lse and D were read before the round's barrier
    });
    epilogue(&dK, &dV);                                                      // 18
}

#endif
