/* Causal masks and windows are two comparisons per score; other options use bits (complete.cu). */
#ifndef FLASH_TILED_CUDA_COMPLETE16_CUH
#define FLASH_TILED_CUDA_COMPLETE16_CUH

#include "06_flash_tiled_cuda/kernels/parts/rescale.cuh"

/* Batch entry b, head h, queries i0 … i1 - 1. */
struct tile_of_queries {
    size_t b, h, i0, i1;
};

__device__ static inline enum tile_kind kind_of(const struct attention &p,
                                                const struct tile_of_queries &t, int j0, int j1)
{
    return tile_kind(&p, t.b, t.h, t.i0, t.i1, (size_t)j0, (size_t)j1);
}

/* The first unskipped tile >= n, or past the last. */
template <int BC>
__device__ static inline int next_tile(const struct attention &p, const struct tile_of_queries &t,
                                       int n)
{
    const int Nk = (int)p.Nk;
    while (n * BC < Nk && kind_of(p, t, n * BC, min((n + 1) * BC, Nk)) == TILE_SKIPPED)
        n++;
    return n;
}

/* By any query? Those whose band contains key j are adjacent. */
__device__ static inline bool is_attended(const struct attention &p,
                                          const struct tile_of_queries &t, int j)
{
    const struct band band = attention_band(&p);
    const ptrdiff_t first = j - band.high, last = j - band.low;
    const size_t i0 = first > (ptrdiff_t)t.i0 ? (size_t)first : t.i0;
    const ptrdiff_t end = last < (ptrdiff_t)t.i1 ? last + 1 : (ptrdiff_t)t.i1;
    return (ptrdiff_t)i0 < end &&
           tile_kind(&p, t.b, t.h, i0, (size_t)end, (size_t)j, (size_t)j + 1) != TILE_SKIPPED;
}

/*
 * Zeroes V of unattended keys: 0 times NaN is NaN. Threads clear what they copied, before a
 * barrier.
 */
template <class TRAITS, class LAYOUT>
__device__ static inline void zero_values(uint4 *V, const struct attention &p,
                                          const struct tile_of_queries &t, int j0)
{
#pragma unroll 1
    for (int n = (int)threadIdx.x; n < TRAITS::BC * TRAITS::ROW; n += TRAITS::THREADS) {
        const int r = n / TRAITS::ROW, j = j0 + r;
        if (j < (int)p.Nk && !is_attended(p, t, j))
            V[LAYOUT::at(r, n % TRAITS::ROW)] = make_uint4(0, 0, 0, 0);
    }
}

/* n / 2 is the group of 8 keys, n % 2 one of the lane's two in it. */
__device__ static inline size_t key_of_bit(int j0, int n)
{
    return (size_t)(j0 + n / 2 * 8 + tensor_column() + n % 2);
}

template <class TRAITS>
__device__ static inline void mask_outside_band(fragments<TRAITS> *acc, const struct attention &p,
                                                const struct tile_of_queries &t, int j0)
{
    const struct band band = attention_band(&p);
    const int first = j0 + tensor_column(), end = (int)p.Nk - first;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int i = (int)t.i0 + tensor_row<TRAITS>(x, h);
            const int low = i + (int)band.low - first;
            const int high = min(i + (int)band.high - first, end - 1);
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 0; e < 2; e++)
                    if (8 * c + e < low || 8 * c + e > high)
                        acc->S[x][c][2 * h + e] = -INFINITY;
        }
}

template <class TRAITS>
__device__ static inline void mask_invisible(fragments<TRAITS> *acc, const struct attention &p,
                                             const struct tile_of_queries &t, int j0)
{
    static_assert(TRAITS::BC / 4 <= 32, "a lane has a bit for each of its keys");
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const size_t i = t.i0 + (size_t)tensor_row<TRAITS>(x, h);
            unsigned bits = 0;
#pragma unroll 1
            for (int n = 0; n < TRAITS::BC / 4; n++) {
                const size_t j = key_of_bit(j0, n);
                if (i < p.Nq && j < p.Nk && visible(&p, t.b, t.h, i, j))
                    bits |= 1u << n;
            }
            for (int n = 0; n < TRAITS::BC / 4; n++)
                if (!(bits >> n & 1))
                    acc->S[x][n / 2][2 * h + n % 2] = -INFINITY;
        }
}

template <class TRAITS>
__device__ static inline void zero_dropped(fragments<TRAITS> *acc, const struct attention &p,
                                           const struct tile_of_queries &t, int j0)
{
    static_assert(TRAITS::BC / 4 <= 32, "a lane has a bit for each of its keys");
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const size_t i = t.i0 + (size_t)tensor_row<TRAITS>(x, h);
            unsigned bits = 0;
#pragma unroll 1
            for (int n = 0; n < TRAITS::BC / 4; n++)
                bits |= (unsigned)dropout_keeps(&p, t.b, t.h, i, key_of_bit(j0, n)) << n;
            for (int n = 0; n < TRAITS::BC / 4; n++)
                if (!(bits >> n & 1))
                    acc->S[x][n / 2][2 * h + n % 2] = 0.0f;
        }
}

/* 1/(1 - P) is applied to O: a weight of 256/(1 - P) may exceed float16 (rescale.cuh). */
template <class TRAITS>
__device__ static inline void scale_for_dropout(fragments<TRAITS> *acc, double P)
{
    const float factor = (float)(1.0 / (1.0 - P));
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int c = 0; c < TRAITS::D / 8; c++)
            for (int e = 0; e < 4; e++)
                acc->O[x][c][e] *= factor;
}

#endif
