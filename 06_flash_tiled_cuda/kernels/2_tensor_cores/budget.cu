/*
 * Tiles sized to the registers.                                          mma's accesses with these tiles
 *
 * rescale with a choice of tiles (tiles.h) and of resident blocks, which __launch_bounds__ turns
 * into a register limit.
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/rescale.cuh"

// clang-format off

enum { STAGES = 2 };

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS, TRAITS::BLOCKS)
    budget_tile(struct attention p, struct device_arrays a)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    const tensor_head<T> t = tensor_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);
    const int first = i0 + warp_row<TRAITS>(), first_masked_key = keys_attended(p, first);
    const int end_key = keys_attended(p, min(first + 16 * TRAITS::M_TILES, Nq) - 1);
    const struct folded_scale f = fold(p.scale);
    fragments<TRAITS> acc;
    copy_tile<TRAITS, rows>(smem, t.Q + (size_t)i0 * D, Br, Nq - i0);        // 4
    for (int n = 0; n < STAGES - 1; n++)
        copy_keys<TRAITS, STAGES, rows>(smem, n, t.K, t.V, n, attended);     // 7
    begin(&acc);                                                             // 5
    for (int n = 0; n * Bc < attended; n++) {                                // 6
        cp_async_wait<STAGES - 2>();
        if (n == 0 && p.scale <= 0.0f)
            flip_query_signs<TRAITS, rows>(smem, f);
        __syncthreads();
        const int next = n + STAGES - 1;
        copy_keys<TRAITS, STAGES, rows>(smem, next, t.K, t.V, next, attended);  // 7
        if (n * Bc >= end_key)
            continue;
        const uint4 *const K = stage_of<TRAITS, STAGES>(smem, n), *const V = K + Bc * TRAITS::ROW;
        tensor_scores<T, rows>(&acc, smem, K);                               // 8
        if ((n + 1) * Bc > first_masked_key)
            mask_keys(&acc, p, i0, n * Bc);
        lazy_softmax(&acc, f.k);                                             // 9, 10
        tensor_product<T, rows>(&acc, V);                                    // 10
    }
    cp_async_wait<0>();
    scale_maximum(&acc, f.scale);
    tensor_finish(&acc, t.O, t.lse, i0, Nq);                                 // 12 to 15
}

// clang-format on

template <class T, class TRAITS>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nq, TRAITS::BR), (unsigned)(p->B * p->H));
    const size_t bytes = pipeline_bytes<TRAITS, STAGES>();
    allow_shared<budget_tile<T, TRAITS>>(bytes);
    budget_tile<T, TRAITS><<<grid, TRAITS::THREADS, bytes, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

template <class T>
static void launch_tile(const struct attention *p, const struct device_arrays *a,
                        cudaStream_t stream)
{
#define TILE(d_, Br_, Bc_, M_tiles, blocks)                                                     \
    if (p->d == (d_) && a->Br == (Br_) && a->Bc == (Bc_))                                       \
        return launch<T, kernel_traits<d_, Bc_, M_tiles, (Br_) / 16 / (M_tiles), blocks>>(p, a, \
                                                                                          stream);
    BUDGET_TILES(TILE)
#undef TILE
    not_compiled("budget", "d = %zu in tiles of %zu x %zu", p->d, a->Br, a->Bc);
}

extern "C" void LAUNCHER(budget)(const struct attention *p, const struct device_arrays *a,
                                 cudaStream_t stream)
{
    if (p->dtype == DTYPE_BF16)
        launch_tile<__nv_bfloat16>(p, a, stream);
    else if (p->dtype == DTYPE_F16)
        launch_tile<__half>(p, a, stream);
    else
        not_compiled("budget", "--dtype %s", dtype_name(p->dtype));
}
