/*
 * A tile of FlashAttention-2 in the registers of a block of threads.
 *
 * A warp is 4 groups of 8 lanes; a group has R queries. Lane n has keys n, n + 8, … n + 56: R by 8
 * scores, from R + 8 loaded numbers. It has elements 2n, 2n + 1, 2n + 16, 2n + 17, … of O. K and V
 * begin at the tile; `keys` of their rows are valid, maybe more than 64.
 */
#ifndef FLASH_TILED_CUDA_REGISTERS_CUH
#define FLASH_TILED_CUDA_REGISTERS_CUH

#include "06_flash_tiled_cuda/kernels/parts/head.cuh"
#include "06_flash_tiled_cuda/kernels/parts/store_two.cuh"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"

enum {
    THREADS = 128,
    LANES = 8,                           // per row of scores
    KEYS = 8,                            // per lane
    PAD = 4,                             // 8 rows begin in different banks
    SLICE_FLOATS = FA2_BC * (32 + PAD),  // of K or V
};
static const unsigned WHOLE_WARP = 0xffffffff;
static const unsigned long long EVERY_KEY = ~0ULL;  // a bit per key

/* A row's 8 lanes have the same m and l. */
template <int D> struct accumulators {
    enum { R = FA2_BR(D) / 16 };
    float S[R][KEYS], O[R][D / 8], m[R], l[R];
};

template <int D> struct alignas(16) fast_memory {
    float Q[FA2_BR(D)][D + PAD], slice[SLICE_FLOATS];
};

/* K: W elements of each key; V: all elements of V_KEYS keys. */
template <int D> struct slices {
    enum { W = D < 32 ? D : 32, V_KEYS = D <= 32 ? 64 : D <= 64 ? 32 : 16 };
};

__device__ static inline int lane_in_row(void)
{
    return (int)threadIdx.x % LANES;
}

/* Adjacent rows for the 4 groups: different banks. */
template <int D> __device__ static inline int row_of(int r)
{
    const int warp = (int)threadIdx.x / 32, subwarp = (int)threadIdx.x % 32 / LANES;
    return (warp * accumulators<D>::R + r) * 4 + subwarp;
}

/* 0 past the row's end. */
__device__ static inline float4 load_four(const float *row, int column, int d)
{
    if (d % 4 == 0 && column < d)
        return *(const float4 *)(row + column);
    float4 padded = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    padded.x = column < d ? row[column] : 0.0f;
    padded.y = column + 1 < d ? row[column + 1] : 0.0f;
    padded.z = column + 2 < d ? row[column + 2] : 0.0f;
    padded.w = column + 3 < d ? row[column + 3] : 0.0f;
    return padded;
}

/* Zero-fills rows >= `end`. */
template <int ROWS, int WIDTH, int PITCH>
__device__ static inline void load_rows(float *to, const float *from, int end, int column, int d)
{
    for (int e = (int)threadIdx.x; e < ROWS * (WIDTH / 4); e += THREADS) {
        const int r = e / (WIDTH / 4), c = e % (WIDTH / 4) * 4;
        *(float4 *)(to + r * PITCH + c) =
            r < end ? load_four(from + (size_t)r * (size_t)d, column + c, d)
                    : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

template <int D> __device__ static inline void begin(accumulators<D> *acc)
{
#pragma unroll
    for (int r = 0; r < accumulators<D>::R; r++) {
        acc->m[r] = -INFINITY;
        acc->l[r] = 0.0f;
        for (int c = 0; c < D / 8; c++)
            acc->O[r][c] = 0.0f;
    }
}

template <int D, int UNROLL = 2>
__device__ static inline void add_scores(accumulators<D> *acc, const fast_memory<D> *smem, int k0)
{
    enum { R = accumulators<D>::R, W = slices<D>::W };
#pragma unroll UNROLL
    for (int k = 0; k < W; k += 4) {
        float4 q[R];
        for (int r = 0; r < R; r++)
            q[r] = *(const float4 *)&smem->Q[row_of<D>(r)][k0 + k];
        for (int c = 0; c < KEYS; c++) {
            const float4 key =
                *(const float4 *)&smem->slice[(lane_in_row() + 8 * c) * (W + PAD) + k];
            for (int r = 0; r < R; r++) {
                acc->S[r][c] += q[r].x * key.x;
                acc->S[r][c] += q[r].y * key.y;
                acc->S[r][c] += q[r].z * key.z;
                acc->S[r][c] += q[r].w * key.w;
            }
        }
    }
}

/* S = Q K^T, unscaled. */
template <int D>
__device__ static inline void scores(accumulators<D> *acc, fast_memory<D> *smem, const float *K,
                                     int keys, int d)
{
    enum { W = slices<D>::W };
    for (int r = 0; r < accumulators<D>::R; r++)
        for (int c = 0; c < KEYS; c++)
            acc->S[r][c] = 0.0f;
    for (int k0 = 0; k0 < D; k0 += W) {
        __syncthreads();  // the old slice is free
        load_rows<FA2_BC, W, W + PAD>(smem->slice, K, keys, k0, d);
        __syncthreads();  // slice and Q are loaded
        add_scores(acc, smem, k0);
    }
}

/* Scales, then masks. */
template <int D>
__device__ static inline void mask_scores(accumulators<D> *acc, const struct attention &p, int i0,
                                          int j0)
{
#pragma unroll
    for (int r = 0; r < accumulators<D>::R; r++) {
        const int attended = keys_attended(p, i0 + row_of<D>(r)) - j0;
        for (int c = 0; c < KEYS; c++)
            acc->S[r][c] = lane_in_row() + 8 * c < attended ? p.scale * acc->S[r][c] : -INFINITY;
    }
}

/* Each step doubles the lanes that share a maximum. */
__device__ static inline float row_max(float x)
{
    // BEGIN SOLUTION
    for (int step = 1; step < LANES; step *= 2)
        x = fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, step));
    // END SOLUTION
    return x;
}

__device__ static inline float row_sum(float x)
{
    // BEGIN SOLUTION
    for (int step = 1; step < LANES; step *= 2)
        x += __shfl_xor_sync(WHOLE_WARP, x, step);
    // END SOLUTION
    return x;
}

template <int D> __device__ static inline void softmax(accumulators<D> *acc)
{
#pragma unroll
    for (int r = 0; r < accumulators<D>::R; r++) {
        // BEGIN SOLUTION
        float m_new = acc->m[r], sum = 0.0f;
        for (int c = 0; c < KEYS; c++)
            m_new = fmaxf(m_new, acc->S[r][c]);
        m_new = row_max(m_new);
        for (int c = 0; c < KEYS; c++) {
            acc->S[r][c] = exp_minus(acc->S[r][c], m_new);
            sum += acc->S[r][c];
        }
        const float rescale = exp_minus(acc->m[r], m_new);
        acc->l[r] = acc->l[r] * rescale + row_sum(sum);
        for (int c = 0; c < D / 8; c++)
            acc->O[r][c] *= rescale;
        acc->m[r] = m_new;
        // END SOLUTION
        // STUB: (void)acc;
    }
}

/* O += P V for those keys 8 c … 8 c + 7 in key_bits; lane k has the weights of key 8 c + k. */
template <int D>
__device__ static inline void add_product(accumulators<D> *acc, const float *V, int c,
                                          unsigned long long key_bits)
{
#pragma unroll 2
    for (int k = 0; k < LANES; k++) {
        if (!(key_bits >> (8 * c + k) & 1))
            continue;
        float weight[accumulators<D>::R];
        for (int r = 0; r < accumulators<D>::R; r++)
            weight[r] = __shfl_sync(WHOLE_WARP, acc->S[r][c], k, LANES);
        for (int e = 0; e < D / 8; e += 2) {
            const float2 v = *(const float2 *)&V[k * D + 8 * e + 2 * lane_in_row()];
            for (int r = 0; r < accumulators<D>::R; r++) {
                acc->O[r][e] += weight[r] * v.x;
                acc->O[r][e + 1] += weight[r] * v.y;
            }
        }
    }
}

template <int D>
__device__ static inline void product(accumulators<D> *acc, fast_memory<D> *smem, const float *V,
                                      int keys, int d, unsigned long long key_bits)
{
    enum { V_KEYS = slices<D>::V_KEYS };
#pragma unroll
    for (int c = 0; c < KEYS; c++) {
        const int first = 8 * c / V_KEYS * V_KEYS;  // the slice's first key
        if (8 * c == first) {
            __syncthreads();  // the old slice is free
            load_rows<V_KEYS, D, D>(smem->slice, V + (size_t)first * (size_t)d, keys - first, 0, d);
            __syncthreads();  // the slice is loaded
        }
        add_product(acc, smem->slice + (8 * c - first) * D, c, key_bits);
    }
}

template <int D>
__device__ static inline void finish(const accumulators<D> *acc, const struct head &t, int i0,
                                     int Nq, int d)
{
#pragma unroll
    for (int r = 0; r < accumulators<D>::R; r++) {
        const int i = i0 + row_of<D>(r);
        if (i >= Nq)
            continue;
        const float l = acc->l[r], divisor = l == 0.0f ? 1.0f : l;
        for (int e = 0; e < D / 8; e += 2)
            store_two(t.O + (size_t)i * (size_t)d, 8 * e + 2 * lane_in_row(), d,
                      make_float2(acc->O[r][e] / divisor, acc->O[r][e + 1] / divisor));
        if (t.lse && lane_in_row() == 0)
            t.lse[i] = acc->m[r] + logf(l);
    }
}

#endif
