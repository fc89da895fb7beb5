/*
 * Every option but --softcap.                deterministic's accesses, without skipped tiles
 *
 * deterministic with the masks and dropout of attention.h, for all query heads of a block's keys.
 */
#include "07_backward/kernels/parts/tile.cuh"

/* Bit 4 r + c is a thread's pair (r, c). */
typedef unsigned pair_bits;

static const pair_bits EVERY_PAIR = 0xffff;

__device__ static pair_bits visible_bits(const struct attention &p, const struct head &t, int i0,
                                         int j0)
{
    pair_bits bits = 0;
#pragma unroll 1
    for (int n = 0; n < 16; n++) {
        const size_t i = (size_t)(i0 + y_of_thread() + SIDE * (n / 4));
        const size_t j = (size_t)(j0 + x_of_thread() + SIDE * (n % 4));
        if (i < p.Nq && j < p.Nk && visible(&p, t.b, t.h, i, j))
            bits |= 1U << n;
    }
    return bits;
}

__device__ static pair_bits kept_bits(const struct attention &p, const struct head &t, int i0,
                                      int j0)
{
    pair_bits bits = 0;
#pragma unroll 1
    for (int n = 0; n < 16 && p.dropout_threshold > 0; n++) {
        const size_t i = (size_t)(i0 + y_of_thread() + SIDE * (n / 4));
        const size_t j = (size_t)(j0 + x_of_thread() + SIDE * (n % 4));
        if (dropout_keeps(&p, t.b, t.h, i, j))
            bits |= 1U << n;
    }
    return p.dropout_threshold > 0 ? bits : EVERY_PAIR;
}

__device__ static void masked_weights(pairs *S, const fast_memory *smem, float scale,
                                      pair_bits unmasked)
{
#pragma unroll
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            S->of[r][c] = unmasked >> (4 * r + c) & 1
                              ? exp_minus(scale * S->of[r][c], smem->lse[y_of_thread() + SIDE * r])
                              : 0.0f;
}

__device__ static pairs apply_dropout(pairs X, pair_bits kept, float factor)
{
#pragma unroll
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            X.of[r][c] = kept >> (4 * r + c) & 1 ? factor * X.of[r][c] : 0.0f;
    return X;
}

/* Skips X = 0: masked keys may be NaN. */
__device__ static void add_to_queries_masked(gradient_part *C, const fast_memory *smem)
{
#pragma unroll 1
    for (int j = 0; j < Bc; j++) {
        const float2 b = *(const float2 *)&smem->B[j][2 * x_of_thread()];
        for (int r = 0; r < 4; r++) {
            const float X = smem->X[y_of_thread() + SIDE * r][j];
            C->of[r][0] += X == 0.0f ? 0.0f : X * b.x;
            C->of[r][1] += X == 0.0f ? 0.0f : X * b.y;
        }
    }
}

/* As load_slice, but 0 for queries without keys, which may be NaN: smem->lse is -inf. */
__device__ static void load_nonempty_queries(fast_memory *smem, const float *from, int rows, int k,
                                             int d)
{
    for (int e = (int)threadIdx.x; e < Br * (SLICE / 4); e += THREADS) {
        const int r = e / (SLICE / 4), c = e % (SLICE / 4) * 4;
        const float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const float4 four = r < rows ? load_four(from + (size_t)r * (size_t)d, k + c, d) : none;
        *(float4 *)&smem->A[r][c] = smem->lse[r] == -INFINITY ? none : four;
    }
}

__device__ static enum tile_kind kind_of(const struct attention &p, const struct head &t, int i0,
                                         int rows, int j0, int keys)
{
    return tile_kind(&p, t.b, t.h, (size_t)i0, (size_t)(i0 + rows), (size_t)j0,
                     (size_t)(j0 + keys));
}

template <int HEAD_DIM>
__device__ static inline void complete_pairs(gradient_part (&dK)[HEAD_DIM / SLICE],
                                             gradient_part (&dV)[HEAD_DIM / SLICE],
                                             fast_memory *smem, const struct attention &p,
                                             const struct head &t, int i0, int j0, float factor)
{
    const int rows = min(Br, (int)p.Nq - i0), keys = min(Bc, (int)p.Nk - j0), d = (int)p.d;
    const float *Q = t.Q + (size_t)i0 * p.d, *dO = t.dO + (size_t)i0 * p.d;
    const float *K = t.K + (size_t)j0 * p.d, *V = t.V + (size_t)j0 * p.d;
    const pair_bits unmasked = visible_bits(p, t, i0, j0), kept = kept_bits(p, t, i0, j0);
    pairs P, dS = {};
    load_statistics(smem, t, i0, rows);
    scores<HEAD_DIM>(&P, smem, Q, rows, K, keys, d);  // pass 1
    masked_weights(&P, smem, p.scale, unmasked);
    share(smem, apply_dropout(P, kept, factor));
#pragma unroll
    for (int n = 0; n < HEAD_DIM / SLICE; n++) {  // pass 2
        __syncthreads();
        load_nonempty_queries(smem, dO, rows, n * SLICE, d);
        load_slice(smem->B, V, keys, n * SLICE, d);
        __syncthreads();
        add_to_keys(&dV[n], smem);
        add_pairs(&dS, smem);
    }
    dS = apply_dropout(dS, kept, factor);
    score_gradients(&dS, P, smem);
    __syncthreads();
    share(smem, dS);
#pragma unroll
    for (int n = 0; n < HEAD_DIM / SLICE; n++) {  // pass 3
        __syncthreads();
        load_nonempty_queries(smem, Q, rows, n * SLICE, d);
        __syncthreads();
        add_to_keys(&dK[n], smem);
    }
}

template <int HEAD_DIM>
static __global__ void __launch_bounds__(THREADS, 1)
    complete_keys(struct attention p, struct backward_arrays a)
{
    __shared__ fast_memory smem;
    const size_t group = p.H / p.Hkv;
    const int j0 = (int)blockIdx.x * Bc, Nq = (int)p.Nq, keys = min(Bc, (int)p.Nk - j0);
    const float factor = (float)(1.0 / (1.0 - p.dropout));
    gradient_part dK[HEAD_DIM / SLICE] = {}, dV[HEAD_DIM / SLICE] = {};
    for (size_t n = blockIdx.y * group; n < (blockIdx.y + 1) * group; n++) {
        const struct head t = head_of(p, a, n);
        for (int i0 = 0; i0 < Nq; i0 += Br)
            if (kind_of(p, t, i0, min(Br, Nq - i0), j0, keys) != TILE_SKIPPED)
                complete_pairs<HEAD_DIM>(dK, dV, &smem, p, t, i0, j0, factor);
    }
    const struct head t = head_of(p, a, blockIdx.y * group);
    store_key_gradients<HEAD_DIM>(dK, t.dK + (size_t)j0 * p.d, keys, p.scale, (int)p.d);
    store_key_gradients<HEAD_DIM>(dV, t.dV + (size_t)j0 * p.d, keys, 1.0f, (int)p.d);
}

template <int HEAD_DIM>
static __global__ void __launch_bounds__(THREADS, 1)
    complete_queries(struct attention p, struct backward_arrays a)
{
    __shared__ fast_memory smem;
    const struct head t = head_of(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, rows = min(Br, (int)p.Nq - i0);
    const int Nk = (int)p.Nk, d = (int)p.d;
    const float *Q = t.Q + (size_t)i0 * p.d, *dO = t.dO + (size_t)i0 * p.d;
    const float factor = (float)(1.0 / (1.0 - p.dropout));
    gradient_part dQ[HEAD_DIM / SLICE] = {};
    load_statistics(&smem, t, i0, rows);
    for (int j0 = 0; j0 < Nk; j0 += Bc) {
        const int keys = min(Bc, Nk - j0);
        const enum tile_kind kind = kind_of(p, t, i0, rows, j0, keys);
        if (kind == TILE_SKIPPED)
            continue;
        const float *K = t.K + (size_t)j0 * p.d, *V = t.V + (size_t)j0 * p.d;
        const pair_bits unmasked = visible_bits(p, t, i0, j0), kept = kept_bits(p, t, i0, j0);
        pairs P, dS;
        scores<HEAD_DIM>(&P, &smem, Q, rows, K, keys, d);  // pass 1
        masked_weights(&P, &smem, p.scale, unmasked);
        scores<HEAD_DIM>(&dS, &smem, dO, rows, V, keys, d);  // pass 2
        dS = apply_dropout(dS, kept, factor);
        score_gradients(&dS, P, &smem);
        share(&smem, dS);
#pragma unroll
        for (int n = 0; n < HEAD_DIM / SLICE; n++) {  // pass 3
            __syncthreads();
            load_slice(smem.B, K, keys, n * SLICE, d);
            __syncthreads();
            if (kind == TILE_FULL)
                add_to_queries(&dQ[n], &smem);
            else
                add_to_queries_masked(&dQ[n], &smem);
        }
    }
    store_query_gradients<HEAD_DIM>(dQ, t.dQ + (size_t)i0 * p.d, rows, p.scale, d);
}

template <int HEAD_DIM>
static void launch(const struct attention &p, const struct backward_arrays &a, cudaStream_t stream)
{
    const dim3 keys(ceil_div(p.Nk, Bc), (unsigned)(p.B * p.Hkv));
    const dim3 queries(ceil_div(p.Nq, Br), (unsigned)(p.B * p.H));
    complete_keys<HEAD_DIM><<<keys, THREADS, 0, stream>>>(p, a);
    CHECK_CUDA(cudaGetLastError());
    complete_queries<HEAD_DIM><<<queries, THREADS, 0, stream>>>(p, a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" backward_launcher LAUNCHER(backward_complete16);

extern "C" void LAUNCHER(backward_complete)(const struct attention *p,
                                            const struct backward_arrays *a, cudaStream_t stream)
{
    if (p->dtype != DTYPE_F32) {
        LAUNCHER(backward_complete16)(p, a, stream);
        return;
    }
    if (p->d > 128)
        not_compiled(__func__, "d = %zu", p->d);
    LAUNCHER(backward_D)(p, a, stream);
    if (p->d <= 32)
        launch<32>(*p, *a, stream);
    else if (p->d <= 64)
        launch<64>(*p, *a, stream);
    else if (p->d <= 96)
        launch<96>(*p, *a, stream);
    else
        launch<128>(*p, *a, stream);
}
