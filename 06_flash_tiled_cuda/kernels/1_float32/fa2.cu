/*
 * FlashAttention-2.                                            2 Nq d + Nq + 2 Tr Nk d accesses
 *
 * A block of threads per tile of queries: Tr B H independent blocks. O, m and l stay in registers.
 *
 * Margin: FlashAttention-2 (arXiv 2307.08691), Algorithm 1.
 */
#include "06_flash_tiled_cuda/kernels/parts/registers.cuh"

// clang-format off

template <int D>
static __global__ void __launch_bounds__(THREADS, 2)
    fa2_tile(struct attention p, struct device_arrays a)
{
    enum { Br = FA2_BR(D), Bc = FA2_BC };
    __shared__ fast_memory<D> smem;
    const struct head t = head_of(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq;                     // 3
    const int attended = keys_attended(p, min(i0 + Br, Nq) - 1);  // causal
    accumulators<D> acc;
    load_rows<Br, D, D + PAD>(smem.Q[0], t.Q + (size_t)i0 * D, Nq - i0, 0, D);  // 4
    begin(&acc);                                                             // 5
    for (int j0 = 0; j0 < attended; j0 += Bc) {                              // 6
        scores(&acc, &smem, t.K + (size_t)j0 * D, attended - j0, D);         // 7, 8
        mask_scores(&acc, p, i0, j0);
        softmax(&acc);                                                       // 9, 10
        product(&acc, &smem, t.V + (size_t)j0 * D, attended - j0, D, EVERY_KEY);  // 7, 10
    }
    finish(&acc, t, i0, Nq, D);                                              // 12 to 15
}

// clang-format on

extern "C" void LAUNCHER(fa2)(const struct attention *p, const struct device_arrays *a,
                              cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32)
        not_compiled(__func__, "--dtype %s", dtype_name(p->dtype));
    const dim3 grid(ceil_div(p->Nq, FA2_BR(p->d)), (unsigned)(p->B * p->H));
    switch (p->d) {
    case 16:
        fa2_tile<16><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 32:
        fa2_tile<32><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 64:
        fa2_tile<64><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 96:
        fa2_tile<96><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    case 128:
        fa2_tile<128><<<grid, THREADS, 0, stream>>>(*p, *a);
        break;
    default:
        not_compiled(__func__, "d = %zu", p->d);
    }
    CHECK_CUDA(cudaGetLastError());
}
