/*
 * The softmax of a tile overlaps the previous tile's product.              wgmma's accesses
 *
 * Like roles, but scores of tile n are issued before the product of tile n - 1. ptxas (12.8, 13.0)
 * would move a single wait above the exponentials, so each arm of a branch has one.
 *
 * Margin: FlashAttention-2, Algorithm 1, in the order of FlashAttention-3 (arXiv 2407.08608).
 */
#include "06_flash_tiled_cuda/kernels/parts/full_empty.cuh"
#include "06_flash_tiled_cuda/kernels/parts/overlap.cuh"

// clang-format off

enum { STAGES = 2, PRODUCER = 128, PRODUCER_REGS = 24, CONSUMER_REGS = 240, CONSUMERS_BARRIER = 1 };
static_assert(PRODUCER * PRODUCER_REGS + 256 * CONSUMER_REGS <= 384 * 168);

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    overlap_tile(struct attention p, struct device_arrays a, const __grid_constant__ struct tile_maps maps)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D, Q_BYTES = Br * D * 2, K_BYTES = Bc * D * 2 };
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t Q_loaded;
    __shared__ pipeline<STAGES> K, V;
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int head = (int)blockIdx.y, kv = kv_head_index(p, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    const int tiles = (attended + Bc - 1) / Bc;
    if (threadIdx.x == 0) {
        mbarrier_init(&Q_loaded, 1);
        K.init(Br / GROUP_ROWS);
        V.init(Br / GROUP_ROWS);
        fence_async();
    }
    __syncthreads();

    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<PRODUCER_REGS>();
        if (!one_of_warp(TRAITS::THREADS / 32))
            return;
        mbarrier_arrive_expect(&Q_loaded, Q_BYTES);
        tma_load_rows<Br, D>(smem, &maps.Q, &Q_loaded, i0, head);            // 4
        const auto load_keys = [&](pipeline<STAGES> *keys, const tensor_map *map, int at, int n) {
            keys->producer_acquire(n);
            uint64_t *const full = keys->producer_expect(n, K_BYTES);
            tma_load_rows<Bc, D>(smem + Q_BYTES + keys->stage(n) * 2 * K_BYTES + at, map, full, n * Bc, kv);
        };
        for (int n = 0; n <= tiles; n++) {                                   // 6
            if (n < tiles)
                load_keys(&K, &maps.K, 0, n);                                // 7
            if (n > 0)
                load_keys(&V, &maps.V, K_BYTES, n - 1);
        }
        return;
    }

    setmaxnreg_inc<CONSUMER_REGS>();
    const unsigned warpgroup = warpgroup_number();
    const int first_masked_key = warp_uniform(keys_attended(p, i0 + warp_row<TRAITS>()));
    const int end_key = keys_attended(p, min(i0 + (int)(warpgroup + 1) * GROUP_ROWS, Nq) - 1);
    const struct folded_scale f = fold(p.scale);
    const unsigned char *const Q = rows_of_group(smem);
    const auto K_of = [&](int n) { return smem + Q_BYTES + K.stage(n) * 2 * K_BYTES; };
    const auto V_of = [&](int n) { return K_of(n) + K_BYTES; };
    fragments<TRAITS> acc;
    begin(&acc);                                                             // 5
    mbarrier_wait(&Q_loaded, 0);
    if (p.scale <= 0.0f) {
        flip_query_signs<TRAITS, swizzled_rows<TRAITS>>((uint4 *)smem, f);
        fence_async();
        barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
    }
    const int my_tiles = (end_key + Bc - 1) / Bc;
    float rescale[TRAITS::M_TILES][2] = {};
    unsigned P[Bc / 16][4];
    if (my_tiles > 0) {
        K.consumer_wait(0);
        group_scores<T>(&acc, Q, K_of(0));                                   // 8
        K.warpgroup_release(0);
        if (Bc > first_masked_key)
            mask_keys(&acc, p, i0, 0);
        lazy_weights(&acc, f.k, rescale);                                    // 9, 10: O is 0
        pack_weights<T>(&acc, P);
        if (my_tiles > 1)
            K.consumer_wait(1);
    }
    for (int n = 1; n < my_tiles; n++) {                                     // 6
        issue_scores<T>(&acc, Q, K_of(n));                                   // 8
        V.consumer_wait(n - 1);
        issue_product<T>(&acc, P, V_of(n - 1));                              // 10, of tile n - 1
        wgmma_wait<1>(flat<Bc / 2>(acc.S));  // the scores are ready
        K.warpgroup_release(n);
        if ((n + 1) * Bc > first_masked_key)
            mask_keys(&acc, p, i0, n * Bc);
        const bool needs_rescale = lazy_weights(&acc, f.k, rescale);         // 9, 10
        if (n + 1 < my_tiles) {
            K.consumer_wait(n + 1);
            wgmma_wait<0>(flat<D / 2>(acc.O), P);
        } else
            wgmma_wait<0>(flat<D / 2>(acc.O), P);
        V.warpgroup_release(n - 1);
        if (needs_rescale)
            rescale_output(&acc, rescale);                                   // 10
        pack_weights<T>(&acc, P);
    }
    if (tiles * Bc > attended && attended < (int)p.Nk) {
        V.consumer_wait(tiles - 1);
        zero_values<TRAITS>(V_of(tiles - 1), attended - (tiles - 1) * Bc);
        fence_async();
        barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
    }
    if (my_tiles > 0) {
        V.consumer_wait(my_tiles - 1);
        issue_product<T>(&acc, P, V_of(my_tiles - 1));                       // 10
        wgmma_wait<0>(flat<D / 2>(acc.O), P);
    }
    scale_maximum(&acc, f.scale);
    group_finish(&acc, t.O, t.lse, i0, Nq);                                  // 12 to 15
}

// clang-format on

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    typedef kernel_traits<D, HOPPER_BC, 1, 8> shape;
    const dim3 grid(ceil_div(p->Nq, shape::BR), (unsigned)(p->B * p->H));
    const size_t bytes = pipeline_bytes<shape, STAGES>();
    allow_shared<overlap_tile<T, shape>>(bytes);
    const struct tile_maps maps = make_maps<T, shape>(p, a);
    overlap_tile<T, shape><<<grid, shape::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(overlap)(const struct attention *p, const struct device_arrays *a,
                                  cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}
