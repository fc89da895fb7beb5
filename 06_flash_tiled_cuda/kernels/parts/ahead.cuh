/*
 * fa2's scores and products, while the next slice of K or V is loaded.
 *
 * A thread fetches its part into registers before the products, and stores it to shared memory
 * afterwards. Weights use that too, instead of R shuffles per key.
 */
#ifndef FLASH_TILED_CUDA_AHEAD_CUH
#define FLASH_TILED_CUDA_AHEAD_CUH

#include "06_flash_tiled_cuda/kernels/parts/registers.cuh"

/* Weights of 8 keys: row r of group g, key k at [r / 4][g][4 k + r % 4]. */
template <int D> struct alignas(16) weights {
    float of[accumulators<D>::R / 4][4][4 * LANES + PAD];
};

template <int D> struct ahead_memory {
    fast_memory<D> tiles;
    weights<D> warp[THREADS / 32];
};

struct next_slice {
    float4 part[64 * 32 / 4 / THREADS];
};

template <int ROWS, int WIDTH>
__device__ static inline void fetch(next_slice *next, const float *from, int end, int column, int d)
{
    static_assert(ROWS * (WIDTH / 4) % THREADS == 0, "each thread loads equally many");
#pragma unroll
    for (int n = 0; n < ROWS * (WIDTH / 4) / THREADS; n++) {
        const int e = (int)threadIdx.x + n * THREADS, r = e / (WIDTH / 4), c = e % (WIDTH / 4) * 4;
        next->part[n] = r < end ? load_four(from + (size_t)r * (size_t)d, column + c, d)
                                : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

template <int ROWS, int WIDTH, int PITCH>
__device__ static inline void put(float *slice, const next_slice &next)
{
    __syncthreads();  // the old slice is free
#pragma unroll
    for (int n = 0; n < ROWS * (WIDTH / 4) / THREADS; n++) {
        const int e = (int)threadIdx.x + n * THREADS, r = e / (WIDTH / 4), c = e % (WIDTH / 4) * 4;
        *(float4 *)(slice + r * PITCH + c) = next.part[n];
    }
    __syncthreads();  // the new one is stored
}

template <int D>
__device__ static inline void fetch_keys(next_slice *next, const float *K, int keys, int k0, int d)
{
    fetch<FA2_BC, slices<D>::W>(next, K, keys, k0, d);
}

template <int D>
__device__ static inline void fetch_values(next_slice *next, const float *V, int keys, int first,
                                           int d)
{
    fetch<slices<D>::V_KEYS, D>(next, V + (size_t)first * (size_t)d, keys - first, 0, d);
}

/* S = Q K^T, unscaled. On entry, `next` holds K's first slice, on return V's. */
template <int D>
__device__ static inline void scores_ahead(accumulators<D> *acc, ahead_memory<D> *smem,
                                           next_slice *next, const float *K, const float *V,
                                           int keys, int d)
{
    enum { W = slices<D>::W };
    for (int r = 0; r < accumulators<D>::R; r++)
        for (int c = 0; c < KEYS; c++)
            acc->S[r][c] = 0.0f;
#pragma unroll
    for (int k0 = 0; k0 < D; k0 += W) {
        put<FA2_BC, W, W + PAD>(smem->tiles.slice, *next);
        if (k0 + W < D)
            fetch_keys<D>(next, K, keys, k0 + W, d);
        else
            fetch_values<D>(next, V, keys, 0, d);
        add_scores<D, D == 64 ? 1 : 2>(acc, &smem->tiles, k0);  // D = 64 would spill
    }
}

template <int D>
__device__ static inline void add_product_ahead(accumulators<D> *acc, weights<D> *P, const float *V,
                                                int c, unsigned long long key_bits)
{
    enum { R = accumulators<D>::R };
    const int group = (int)threadIdx.x % 32 / LANES;
    __syncwarp();  // old weights are free
    for (int r = 0; r < R; r += 4)
        *(float4 *)&P->of[r / 4][group][4 * lane_in_row()] =
            make_float4(acc->S[r][c], acc->S[r + 1][c], acc->S[r + 2][c], acc->S[r + 3][c]);
    __syncwarp();  // new ones are stored
#pragma unroll 2
    for (int k = 0; k < LANES; k++) {
        if (!(key_bits >> (8 * c + k) & 1))
            continue;
        float weight[R];
        for (int r = 0; r < R; r += 4) {
            const float4 four = *(const float4 *)&P->of[r / 4][group][4 * k];
            weight[r] = four.x;
            weight[r + 1] = four.y;
            weight[r + 2] = four.z;
            weight[r + 3] = four.w;
        }
        for (int e = 0; e < D / 8; e += 2) {
            const float2 v = *(const float2 *)&V[k * D + 8 * e + 2 * lane_in_row()];
            for (int r = 0; r < R; r++) {
                acc->O[r][e] += weight[r] * v.x;
                acc->O[r][e + 1] += weight[r] * v.y;
            }
        }
    }
}

/* O += P V. On entry, `next` holds V's first slice, on return next_K's: 0 if next_keys <= 0. */
template <int D>
__device__ static inline void
product_ahead(accumulators<D> *acc, ahead_memory<D> *smem, next_slice *next, const float *V,
              int keys, int d, unsigned long long key_bits, const float *next_K, int next_keys)
{
    enum { V_KEYS = slices<D>::V_KEYS };
#pragma unroll
    for (int c = 0; c < KEYS; c++) {
        const int first = 8 * c / V_KEYS * V_KEYS;
        if (8 * c == first) {
            put<V_KEYS, D, D>(smem->tiles.slice, *next);
            if (first + V_KEYS < FA2_BC)
                fetch_values<D>(next, V, keys, first + V_KEYS, d);
            else
                fetch_keys<D>(next, next_K, next_keys, 0, d);
        }
        add_product_ahead(acc, &smem->warp[threadIdx.x / 32],
                          smem->tiles.slice + (8 * c - first) * D, c, key_bits);
    }
}

#endif
