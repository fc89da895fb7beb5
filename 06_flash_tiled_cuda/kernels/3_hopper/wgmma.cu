/*
 * Hopper's units copy and multiply.                                      as mma, but whole tiles of K and V
 *
 * Like rescale, but one thread issues TMA copies, and two warpgroups multiply in shared memory
 * (warpgroup.cuh).
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"

// clang-format off

enum { STAGES = 2 };

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS)
    wgmma_tile(struct attention p, struct device_arrays a, const __grid_constant__ struct tile_maps maps)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D, Q_BYTES = Br * D * 2, K_BYTES = Bc * D * 2 };
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t loaded[STAGES];
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int head = (int)blockIdx.y, kv = kv_head_index(p, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    const unsigned warpgroup = warpgroup_number();
    const int first_masked_key = warp_uniform(keys_attended(p, i0 + warp_row<TRAITS>()));
    const int end_key = keys_attended(p, min(i0 + (int)(warpgroup + 1) * GROUP_ROWS, Nq) - 1);
    const unsigned char *const Q = rows_of_group(smem);
    const struct folded_scale f = fold(p.scale);
    const auto tma_load_keys = [&](int n) {
        unsigned char *const K = smem + Q_BYTES + n % STAGES * 2 * K_BYTES;
        mbarrier_arrive_expect(&loaded[n % STAGES], 2 * K_BYTES + (n == 0 ? Q_BYTES : 0));
        tma_load_rows<Bc, D>(K, &maps.K, &loaded[n % STAGES], n * Bc, kv);
        tma_load_rows<Bc, D>(K + K_BYTES, &maps.V, &loaded[n % STAGES], n * Bc, kv);
    };
    fragments<TRAITS> acc;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++)
            mbarrier_init(&loaded[s], 1);
        fence_async();
        if (attended > 0) {
            tma_load_keys(0);                                                // 7
            tma_load_rows<Br, D>(smem, &maps.Q, &loaded[0], i0, head);       // 4
        }
    }
    __syncthreads();
    begin(&acc);                                                             // 5
    for (int n = 0; n * Bc < attended; n++) {                                // 6
        const bool must_flip_queries = n == 0 && p.scale <= 0.0f;
        const bool must_zero_values = (n + 1) * Bc > attended && attended < (int)p.Nk;
        unsigned char *const K = smem + Q_BYTES + n % STAGES * 2 * K_BYTES, *const V = K + K_BYTES;
        if (threadIdx.x == 0 && (n + 1) * Bc < attended)
            tma_load_keys(n + 1);                                            // 7
        mbarrier_wait(&loaded[n % STAGES], n / STAGES % 2);
        if (must_flip_queries)
            flip_query_signs<TRAITS, swizzled_rows<TRAITS>>((uint4 *)smem, f);
        if (must_zero_values)
            zero_values<TRAITS>(V, attended - n * Bc);
        if (must_flip_queries || must_zero_values) {
            fence_async();    // visible to tensor cores
            __syncthreads();
        }
        if (n * Bc < end_key) {
            group_scores<T>(&acc, Q, K);                                     // 8
            if ((n + 1) * Bc > first_masked_key)
                mask_keys(&acc, p, i0, n * Bc);
            lazy_softmax(&acc, f.k);                                         // 9, 10
            group_product<T>(&acc, V);                                       // 10
        }
        __syncthreads();      // tile n is free: tile n + 2 may be loaded
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
    allow_shared<wgmma_tile<T, shape>>(bytes);
    const struct tile_maps maps = make_maps<T, shape>(p, a);
    wgmma_tile<T, shape><<<grid, shape::THREADS, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(wgmma)(const struct attention *p, const struct device_arrays *a,
                                cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}
