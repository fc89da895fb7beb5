/*
 * The next slice is loaded while this one is multiplied.                   fa2's accesses
 *
 * Like fa2, with ahead.cuh.
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/ahead.cuh"

// clang-format off

template <int D>
static __global__ void __launch_bounds__(THREADS, 2)
    ahead_tile(struct attention p, struct device_arrays a)
{
    enum { Br = FA2_BR(D), Bc = FA2_BC };
    __shared__ ahead_memory<D> smem;
    const struct head t = head_of(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);  // causal
    accumulators<D> acc;
    next_slice next;
    fetch_keys<D>(&next, t.K, attended, 0, D);                               // 7
    load_rows<Br, D, D + PAD>(smem.tiles.Q[0], t.Q + (size_t)i0 * D, Nq - i0, 0, D);  // 4
    begin(&acc);                                                             // 5
    for (int j0 = 0; j0 < attended; j0 += Bc) {                              // 6
        const float *const K = t.K + (size_t)j0 * D, *const V = t.V + (size_t)j0 * D;
        scores_ahead(&acc, &smem, &next, K, V, attended - j0, D);            // 7, 8
        mask_scores(&acc, p, i0, j0);
        softmax(&acc);                                                       // 9, 10
        product_ahead(&acc, &smem, &next, V, attended - j0, D, EVERY_KEY,    // 7, 10
                      K + Bc * D, attended - j0 - Bc);
    }
    finish(&acc, t, i0, Nq, D);                                              // 12 to 15
}

// clang-format on

extern "C" void LAUNCHER(ahead)(const struct attention *p, const struct device_arrays *a,
                                cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32)
        not_compiled(__func__, "--dtype %s", dtype_name(p->dtype));
    const dim3 grid(ceil_div(p->Nq, FA2_BR(p->d)), (unsigned)(p->B * p->H));
    switch (p->d) {
    case 16:
        ahead_tile<16><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 32:
        ahead_tile<32><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 64:
        ahead_tile<64><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 96:
        ahead_tile<96><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 128:
        ahead_tile<128><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    default:
        not_compiled(__func__, "d = %zu", p->d);
    }
    CHECK_CUDA(cudaGetLastError());
}
