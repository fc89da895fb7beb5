/*
 * One thread loads tiles, two warpgroups compute.                        wgmma's accesses
 *
 * `full[s]` completes when stage s holds its tile, `empty[s]` when both consumers have released it:
 * phase n / STAGES for tile n.
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"

// clang-format off

enum { STAGES = 2, PRODUCER = 128, PRODUCER_REGS = 24, CONSUMER_REGS = 240, CONSUMERS_BARRIER = 1 };
static_assert(PRODUCER * PRODUCER_REGS + 256 * CONSUMER_REGS <= 384 * 168);  // the block's registers

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    roles_tile(struct attention p, struct device_arrays a, const __grid_constant__ struct tile_maps maps)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D, Q_BYTES = Br * D * 2, K_BYTES = Bc * D * 2 };
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t Q_loaded, full[STAGES], empty[STAGES];
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int head = (int)blockIdx.y, kv = kv_head_index(p, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    if (threadIdx.x == 0) {
        mbarrier_init(&Q_loaded, 1);
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], Br / GROUP_ROWS);
        }
        fence_async();
    }
    __syncthreads();

    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<PRODUCER_REGS>();
        if (!one_of_warp(TRAITS::THREADS / 32))
            return;
        mbarrier_arrive_expect(&Q_loaded, Q_BYTES);
        tma_load_rows<Br, D>(smem, &maps.Q, &Q_loaded, i0, head);            // 4
        for (int n = 0; n * Bc < attended; n++) {                            // 6
            const int s = n % STAGES, parity = n / STAGES % 2;
            unsigned char *const K = smem + Q_BYTES + s * 2 * K_BYTES;
            mbarrier_wait(&empty[s], parity ^ 1);  // no wait in the first round
            mbarrier_arrive_expect(&full[s], 2 * K_BYTES);
            tma_load_rows<Bc, D>(K, &maps.K, &full[s], n * Bc, kv);          // 7
            tma_load_rows<Bc, D>(K + K_BYTES, &maps.V, &full[s], n * Bc, kv);
        }
        return;
    }

    setmaxnreg_inc<CONSUMER_REGS>();
    const unsigned warpgroup = warpgroup_number();
    const int first_masked_key = warp_uniform(keys_attended(p, i0 + warp_row<TRAITS>()));
    const int end_key = keys_attended(p, min(i0 + (int)(warpgroup + 1) * GROUP_ROWS, Nq) - 1);
    const unsigned char *const Q = rows_of_group(smem);
    const struct folded_scale f = fold(p.scale);
    fragments<TRAITS> acc;
    begin(&acc);                                                             // 5
    mbarrier_wait(&Q_loaded, 0);
    if (p.scale <= 0.0f) {
        flip_query_signs<TRAITS, swizzled_rows<TRAITS>>((uint4 *)smem, f);
        fence_async();
        barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
    }
    for (int n = 0; n * Bc < attended; n++) {                                // 6
        const int s = n % STAGES, parity = n / STAGES % 2;
        unsigned char *const K = smem + Q_BYTES + s * 2 * K_BYTES, *const V = K + K_BYTES;
        mbarrier_wait(&full[s], parity);
        if ((n + 1) * Bc > attended && attended < (int)p.Nk) {
            zero_values<TRAITS>(V, attended - n * Bc);
            fence_async();
            barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
        }
        if (n * Bc < end_key) {
            group_scores<T>(&acc, Q, K);                                     // 8
            if ((n + 1) * Bc > first_masked_key)
                mask_keys(&acc, p, i0, n * Bc);
            lazy_softmax(&acc, f.k);                                         // 9, 10
            group_product<T>(&acc, V);                                       // 10
        }
        warpgroup_arrive(&empty[s]);  // tile n is read
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
    allow_shared<roles_tile<T, shape>>(bytes);
    const struct tile_maps maps = make_maps<T, shape>(p, a);
    roles_tile<T, shape><<<grid, shape::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(roles)(const struct attention *p, const struct device_arrays *a,
                                cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}
