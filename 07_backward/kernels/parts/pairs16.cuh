/*
 * Every option but --softcap, pair by pair. Masked pairs get weight 0 after the exponential: with
 * a negative scale, a score of -inf would be an infinite weight.
 */
#ifndef BACKWARD_PAIRS16_CUH
#define BACKWARD_PAIRS16_CUH

#include "06_flash_tiled_cuda/kernels/parts/complete16.cuh"
#include "07_backward/kernels/parts/tensor.cuh"

enum row_kind { ROWS_ARE_QUERIES, ROWS_ARE_KEYS };

struct tile_of_pairs {
    int b, h, row, column;  // the first row and column
};

template <class TRAITS>
__device__ static inline void weights_by_rows(fragments<TRAITS> *acc, float scale, const float *lse)
{
    const float k = scale * LOG2E;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const float lse_i = lse[tensor_row<TRAITS>(x, h)];
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int s = 2 * h; s < 2 * h + 2; s++)
                    acc->S[x][c][s] = weight_of(acc->S[x][c][s], k, lse_i);
        }
}

/* Also zeroes columns >= `columns`, Nq or Nk. */
template <enum row_kind ROW_KIND, class TRAITS>
__device__ static inline void zero_outside_band(fragments<TRAITS> *acc, const struct attention &p,
                                                const struct tile_of_pairs &t, int columns)
{
    const struct band band = attention_band(&p);  // key minus query
    const int nearest = (int)(ROW_KIND == ROWS_ARE_QUERIES ? band.low : -band.high);
    const int farthest = (int)(ROW_KIND == ROWS_ARE_QUERIES ? band.high : -band.low);
    const int first = t.column + tensor_column(), last = columns - 1 - first;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int distance = t.row + tensor_row<TRAITS>(x, h) - first;
            const int low = distance + nearest, high = min(distance + farthest, last);
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 0; e < 2; e++)
                    if (8 * c + e < low || 8 * c + e > high)
                        acc->S[x][c][2 * h + e] = 0.0f;
        }
}

struct pair_of_rows {
    size_t i, j;
};

/* The pair of a lane's bit n: n / 2 is the group of 8 columns, n % 2 the column in it. */
template <enum row_kind ROW_KIND>
__device__ static inline struct pair_of_rows pair_of_bit(const struct tile_of_pairs &t, int row,
                                                         int n)
{
    const size_t r = (size_t)(t.row + row);
    const size_t c = (size_t)(t.column + n / 2 * 8 + tensor_column() + n % 2);
    return ROW_KIND == ROWS_ARE_QUERIES ? pair_of_rows{ r, c } : pair_of_rows{ c, r };
}

template <enum row_kind ROW_KIND, class TRAITS>
__device__ static inline void zero_invisible(fragments<TRAITS> *acc, const struct attention &p,
                                             const struct tile_of_pairs &t)
{
    static_assert(TRAITS::BC / 4 <= 32, "a lane has a bit for each of its columns");
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            unsigned bits = 0;
#pragma unroll 1
            for (int n = 0; n < TRAITS::BC / 4; n++) {
                const struct pair_of_rows a = pair_of_bit<ROW_KIND>(t, tensor_row<TRAITS>(x, h), n);
                if (a.i < p.Nq && a.j < p.Nk && visible(&p, (size_t)t.b, (size_t)t.h, a.i, a.j))
                    bits |= 1u << n;
            }
            for (int n = 0; n < TRAITS::BC / 4; n++)
                if (!(bits >> n & 1))
                    acc->S[x][n / 2][2 * h + n % 2] = 0.0f;
        }
}

template <class TRAITS> struct kept_pairs {
    unsigned of[TRAITS::M_TILES][2];
};

template <enum row_kind ROW_KIND, class TRAITS>
__device__ static inline void draw_dropout(kept_pairs<TRAITS> *kept, const struct attention &p,
                                           const struct tile_of_pairs &t)
{
    static_assert(TRAITS::BC / 4 <= 32, "a lane has a bit for each of its columns");
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            unsigned bits = 0;
#pragma unroll 1
            for (int n = 0; n < TRAITS::BC / 4; n++) {
                const struct pair_of_rows a = pair_of_bit<ROW_KIND>(t, tensor_row<TRAITS>(x, h), n);
                bits |= (unsigned)dropout_keeps(&p, (size_t)t.b, (size_t)t.h, a.i, a.j) << n;
            }
            kept->of[x][h] = bits;
        }
}

template <class TRAITS>
__device__ static inline void drop_pairs(fragments<TRAITS> *acc, const kept_pairs<TRAITS> &kept,
                                         float factor)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++)
            for (int n = 0; n < TRAITS::BC / 4; n++) {
                float *const s = &acc->S[x][n / 2][2 * h + n % 2];
                *s = kept.of[x][h] >> n & 1 ? factor * *s : 0.0f;
            }
}

__device__ static inline bool attends_to_any(const struct attention &p, int b, int h, int i, int j0,
                                             int j1)
{
    const struct band band = attention_band(&p);
    const int end = min(j1, i + (int)band.high + 1), low = i + (int)band.low;
    for (int j = j0 > low ? j0 : low; j < end; j++)
        if (visible(&p, (size_t)b, (size_t)h, (size_t)i, (size_t)j))
            return true;
    return false;
}

/* Q = dO = 0 for queries (columns) without keys in the tile, as they may be NaN. */
template <class TRAITS, class LAYOUT>
__device__ static inline void zero_empty_queries(uint4 *Q, uint4 *dO, const struct attention &p,
                                                 const struct tile_of_pairs &t, int end)
{
#pragma unroll 1
    for (int n = (int)threadIdx.x; n < TRAITS::BC * TRAITS::ROW; n += TRAITS::THREADS) {
        const int r = n / TRAITS::ROW, i = t.column + r, chunk = LAYOUT::at(r, n % TRAITS::ROW);
        if (i < (int)p.Nq && !attends_to_any(p, t.b, t.h, i, t.row, end))
            Q[chunk] = dO[chunk] = make_uint4(0, 0, 0, 0);
    }
}

#endif
