/*
 * Every option but --softcap, in 16 bits.        2 Nq d / 2 + Nq + d per key of each unskipped tile
 *
 * budget with the masks and dropout of attention.h.
 */
#include "06_flash_tiled_cuda/kernels/parts/complete16.cuh"

enum { STAGES = 2 };

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS, TRAITS::BLOCKS)
    complete16_tile(struct attention p, struct device_arrays a)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    const tensor_head<T> head = tensor_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq, Nk = (int)p.Nk;
    const struct tile_of_queries t = { blockIdx.y / p.H, blockIdx.y % p.H, (size_t)i0,
                                       (size_t)min(i0 + Br, Nq) };
    const struct folded_scale f = fold(p.scale);
    fragments<TRAITS> acc;
    int n = next_tile<Bc>(p, t, 0);
    copy_tile<TRAITS, rows>(smem, head.Q + (size_t)i0 * D, Br, Nq - i0);
    copy_keys<TRAITS, STAGES, rows>(smem, 0, head.K, head.V, n, Nk);
    begin(&acc);
    for (int iteration = 0; n * Bc < Nk; iteration++) {
        const int j0 = n * Bc, next = next_tile<Bc>(p, t, n + 1);
        uint4 *const K = stage_of<TRAITS, STAGES>(smem, iteration), *const V = K + Bc * TRAITS::ROW;
        const bool partial =
            j0 + Bc > Nk || kind_of(p, t, j0, j0 + Bc < Nk ? j0 + Bc : Nk) == TILE_PARTIAL;
        cp_async_wait<0>();
        if (iteration == 0 && p.scale <= 0.0f)
            flip_query_signs<TRAITS, rows>(smem, f);
        if (partial)
            zero_values<TRAITS, rows>(V, p, t, j0);
        __syncthreads();
        copy_keys<TRAITS, STAGES, rows>(smem, iteration + 1, head.K, head.V, next, Nk);
        tensor_scores<T, rows>(&acc, smem, K);
        if (partial)
            mask_outside_band(&acc, p, t, j0);
        if (partial && (p.key_mask || p.block_mask))
            mask_invisible(&acc, p, t, j0);
        lazy_softmax(&acc, f.k);
        if (p.dropout_threshold > 0)
            zero_dropped(&acc, p, t, j0);
        tensor_product<T, rows>(&acc, V);
        n = next;
    }
    cp_async_wait<0>();
    if (p.dropout_threshold > 0)
        scale_for_dropout(&acc, p.dropout);
    scale_maximum(&acc, f.scale);
    tensor_finish(&acc, head.O, head.lse, i0, Nq);
}

template <class T, class TRAITS>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nq, TRAITS::BR), (unsigned)(p->B * p->H));
    const size_t bytes = pipeline_bytes<TRAITS, STAGES>();
    allow_shared<complete16_tile<T, TRAITS>>(bytes);
    complete16_tile<T, TRAITS><<<grid, TRAITS::THREADS, bytes, stream>>>(*p, *a);
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
    COMPLETE16_TILES(TILE)
#undef TILE
    not_compiled("complete16", "d = %zu in tiles of %zu x %zu", p->d, a->Br, a->Bc);
}

extern "C" void LAUNCHER(complete16)(const struct attention *p, const struct device_arrays *a,
                                     cudaStream_t stream)
{
    if (p->dtype == DTYPE_BF16)
        launch_tile<__nv_bfloat16>(p, a, stream);
    else if (p->dtype == DTYPE_F16)
        launch_tile<__half>(p, a, stream);
    else
        not_compiled("complete16", "--dtype %s", dtype_name(p->dtype));
}
