/*
 * Every option but --softcap.      2 Nq d + Nq + 2 d per key of each unskipped tile
 *
 * ahead with the masks and dropout of attention.h.
 */
#include "06_flash_tiled_cuda/kernels/parts/ahead.cuh"

/*
 * Bit 8 r + c is a lane's S[r][c]: registers cannot be indexed, so a rolled loop collects bits
 * and apply_bits applies them. Keys without queries may be NaN, so the product skips them.
 */
typedef unsigned long long score_bits;

template <int D>
__device__ static score_bits visible_bits(const struct attention &p, const struct head &t, int i0,
                                          int j0, unsigned *attended_bits)
{
    score_bits bits = 0;
#pragma unroll 1
    for (int c = 0; c < KEYS; c++) {
        const int key = lane_in_row() + 8 * c;
        const score_bits before = bits;
#pragma unroll 1
        for (int r = 0; r < accumulators<D>::R; r++) {
            const size_t i = (size_t)(i0 + row_of<D>(r)), j = (size_t)(j0 + key);
            if (i < p.Nq && j < p.Nk && visible(&p, t.b, t.h, i, j))
                bits |= (score_bits)1 << (8 * r + c);
        }
        if (bits != before)
            atomicOr(&attended_bits[key / 32], 1U << key % 32);
    }
    return bits;
}

template <int D>
__device__ static score_bits kept_bits(const struct attention &p, const struct head &t, int i0,
                                       int j0)
{
    score_bits bits = 0;
#pragma unroll 1
    for (int n = 0; n < accumulators<D>::R * KEYS; n++) {
        const size_t i = (size_t)(i0 + row_of<D>(n / 8)),
                     j = (size_t)(j0 + lane_in_row() + 8 * (n % 8));
        if (dropout_keeps(&p, t.b, t.h, i, j))
            bits |= (score_bits)1 << n;
    }
    return bits;
}

template <int D>
__device__ static void apply_bits(accumulators<D> *acc, score_bits bits, float factor_if_set,
                                  float value_if_not)
{
#pragma unroll
    for (int r = 0; r < accumulators<D>::R; r++)
        for (int c = 0; c < KEYS; c++)
            acc->S[r][c] = bits >> (8 * r + c) & 1 ? factor_if_set * acc->S[r][c] : value_if_not;
}

struct key_tile {
    int j0;
    enum tile_kind kind;
};

/* The first unskipped tile. */
__device__ static key_tile tile_from(const struct attention &p, const struct head &t, int i0,
                                     int i1, int j0)
{
    const int Nk = (int)p.Nk;
    for (; j0 < Nk; j0 += FA2_BC) {
        const enum tile_kind kind = tile_kind(&p, t.b, t.h, (size_t)i0, (size_t)i1, (size_t)j0,
                                              (size_t)min(j0 + FA2_BC, Nk));
        if (kind != TILE_SKIPPED)
            return { j0, kind };
    }
    return { Nk, TILE_SKIPPED };
}

template <int D>
static __global__ void __launch_bounds__(THREADS, 2)
    complete_tile(struct attention p, struct device_arrays a)
{
    enum { Br = FA2_BR(D), Bc = FA2_BC };
    __shared__ ahead_memory<D> smem;
    __shared__ unsigned attended_bits[Bc / 32];
    const struct head t = head_of(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq, Nk = (int)p.Nk, d = (int)p.d;
    const int i1 = min(i0 + Br, Nq);
    const float factor = (float)(1.0 / (1.0 - p.dropout));
    accumulators<D> acc;
    next_slice next;
    key_tile tile = tile_from(p, t, i0, i1, 0);
    fetch_keys<D>(&next, t.K + (size_t)tile.j0 * p.d, Nk - tile.j0, 0, d);
    load_rows<Br, D, D + PAD>(smem.tiles.Q[0], t.Q + (size_t)i0 * p.d, Nq - i0, 0, d);
    begin(&acc);
    while (tile.j0 < Nk) {
        const int j0 = tile.j0, keys = min(Bc, Nk - j0);
        const float *const V = t.V + (size_t)j0 * p.d;
        score_bits unmasked = ~0ULL;
        unsigned long long key_bits = EVERY_KEY;
        scores_ahead(&acc, &smem, &next, t.K + (size_t)j0 * p.d, V, keys, d);
        if (tile.kind == TILE_PARTIAL || keys < Bc) {
            if (threadIdx.x < Bc / 32)
                attended_bits[threadIdx.x] = 0;
            __syncthreads();  // bits are cleared
            unmasked = visible_bits<D>(p, t, i0, j0, attended_bits);
            __syncthreads();  // all bits are set
            key_bits = attended_bits[0] | (unsigned long long)attended_bits[1] << 32;
        }
        apply_bits(&acc, unmasked, p.scale, -INFINITY);
        softmax(&acc);
        if (p.dropout_threshold > 0)
            apply_bits(&acc, kept_bits<D>(p, t, i0, j0), factor, 0.0f);
        tile = tile_from(p, t, i0, i1, j0 + Bc);
        product_ahead(&acc, &smem, &next, V, keys, d, key_bits, t.K + (size_t)tile.j0 * p.d,
                      Nk - tile.j0);
    }
    finish(&acc, t, i0, Nq, d);
}

extern "C" kernel_launcher LAUNCHER(complete16);

extern "C" void LAUNCHER(complete)(const struct attention *p, const struct device_arrays *a,
                                   cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32) {
        LAUNCHER(complete16)(p, a, stream);
        return;
    }
    const dim3 grid(ceil_div(p->Nq, FA2_BR(p->d)), (unsigned)(p->B * p->H));
    if (p->d <= 16)
        complete_tile<16><<<grid, THREADS, 0, stream>>>(*p, *a);
    else if (p->d <= 32)
        complete_tile<32><<<grid, THREADS, 0, stream>>>(*p, *a);
    else if (p->d <= 64)
        complete_tile<64><<<grid, THREADS, 0, stream>>>(*p, *a);
    else if (p->d <= 96)
        complete_tile<96><<<grid, THREADS, 0, stream>>>(*p, *a);
    else if (p->d <= 128)
        complete_tile<128><<<grid, THREADS, 0, stream>>>(*p, *a);
    else
        not_compiled(__func__, "d = %zu", p->d);
    CHECK_CUDA(cudaGetLastError());
}
