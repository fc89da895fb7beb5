/*
 * A tile of 64 queries by 64 keys in the registers of 256 threads.
 *
 * Thread (x, y) of 16 by 16 has pairs of queries y, y + 16, … and keys x, x + 16, …. Its products:
 *
 *     pairs     X  = A B^T      d elements per pair, in slices of 32
 *     keys      C += X^T A      keys 4y … 4y + 3, elements 2x and 2x + 1 of each slice
 *     queries   C += X B        queries y, y + 16, …, the same elements
 *
 * X (P or dS) changes its layout in shared memory.
 */
#ifndef BACKWARD_TILE_CUH
#define BACKWARD_TILE_CUH

#include "06_flash_tiled_cuda/kernels/parts/store_two.cuh"
#include "07_backward/kernels/parts/head.cuh"
#include "07_backward/kernels/parts/tiles.h"

enum {
    SIDE = 16,
    THREADS = SIDE * SIDE,
    SLICE = 32,          // elements of a row
    PITCH = SLICE + 4,   // 8 rows of a slice begin in different banks
    X_PITCH = Bc + SIDE  // and 2 rows of X
};
static_assert(Br == Bc, "load_slice loads queries or keys");

/* 39 kB */
struct alignas(16) fast_memory {
    float X[Br][X_PITCH], A[Br][PITCH], B[Bc][PITCH], lse[Br], D[Br];
};

struct pairs {
    float of[4][4];
};
struct gradient_part {
    float of[4][2];
};

__device__ static inline int x_of_thread(void)
{
    return (int)threadIdx.x % SIDE;
}

__device__ static inline int y_of_thread(void)
{
    return (int)threadIdx.x / SIDE;
}

/* The first query of the first tile that attends to key j; Nq if none does. */
__device__ static inline int first_tile_start(const struct attention &p, int j)
{
    const int first = first_query(p, j);
    return first < (int)p.Nq ? first / Br * Br : first;
}

/* 0 past the row's end. */
__device__ static inline float4 load_four(const float *row, int k, int d)
{
    if (d % 4 == 0 && k < d)
        return *(const float4 *)(row + k);
    float4 some = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    some.x = k < d ? row[k] : 0.0f;
    some.y = k + 1 < d ? row[k + 1] : 0.0f;
    some.z = k + 2 < d ? row[k + 2] : 0.0f;
    some.w = k + 3 < d ? row[k + 3] : 0.0f;
    return some;
}

/* Loads elements k … k + 31; zero-fills rows >= `end`. */
__device__ static inline void load_slice(float (*to)[PITCH], const float *from, int end, int k,
                                         int d)
{
    for (int e = (int)threadIdx.x; e < Br * (SLICE / 4); e += THREADS) {
        const int r = e / (SLICE / 4), c = e % (SLICE / 4) * 4;
        *(float4 *)&to[r][c] = r < end ? load_four(from + (size_t)r * (size_t)d, k + c, d)
                                       : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

/* Call after a barrier. 0 past the last query. */
__device__ static inline void load_statistics(fast_memory *smem, const struct head &t, int i0,
                                              int rows)
{
    const int r = (int)threadIdx.x;
    if (r < Br) {
        smem->lse[r] = r < rows ? t.lse[i0 + r] : 0.0f;
        smem->D[r] = r < rows ? t.D[i0 + r] : 0.0f;
    }
}

__device__ static inline void add_pairs(pairs *X, const fast_memory *smem)
{
#pragma unroll 1
    for (int k = 0; k < SLICE; k += 4) {
        float4 a[4];
        for (int r = 0; r < 4; r++)
            a[r] = *(const float4 *)&smem->A[y_of_thread() + SIDE * r][k];
        for (int c = 0; c < 4; c++) {
            const float4 b = *(const float4 *)&smem->B[x_of_thread() + SIDE * c][k];
            for (int r = 0; r < 4; r++) {
                X->of[r][c] += a[r].x * b.x;
                X->of[r][c] += a[r].y * b.y;
                X->of[r][c] += a[r].z * b.z;
                X->of[r][c] += a[r].w * b.w;
            }
        }
    }
}

/* X = Q K^T, or dO V^T. HEAD_DIM >= d is a multiple of SLICE. */
template <int HEAD_DIM>
__device__ static inline void scores(pairs *X, fast_memory *smem, const float *Q, int rows,
                                     const float *K, int keys, int d)
{
    *X = {};
    for (int k = 0; k < HEAD_DIM; k += SLICE) {
        __syncthreads();
        load_slice(smem->A, Q, rows, k, d);
        load_slice(smem->B, K, keys, k, d);
        __syncthreads();
        add_pairs(X, smem);
    }
}

/* No thread may still read the old X. */
__device__ static inline void share(fast_memory *smem, const pairs &X)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            smem->X[y_of_thread() + SIDE * r][x_of_thread() + SIDE * c] = X.of[r][c];
}

__device__ static inline void add_to_keys(gradient_part *C, const fast_memory *smem)
{
    // BEGIN SOLUTION
#pragma unroll 4
    for (int i = 0; i < Br; i++) {
        const float4 X = *(const float4 *)&smem->X[i][4 * y_of_thread()];
        const float2 a = *(const float2 *)&smem->A[i][2 * x_of_thread()];
        C->of[0][0] += X.x * a.x;
        C->of[0][1] += X.x * a.y;
        C->of[1][0] += X.y * a.x;
        C->of[1][1] += X.y * a.y;
        C->of[2][0] += X.z * a.x;
        C->of[2][1] += X.z * a.y;
        C->of[3][0] += X.w * a.x;
        C->of[3][1] += X.w * a.y;
    }
    // END SOLUTION
    // STUB: (void)C, (void)smem;
}

__device__ static inline void add_to_queries(gradient_part *C, const fast_memory *smem)
{
#pragma unroll 2
    for (int j = 0; j < Bc; j += 4) {
        float2 b[4];
        for (int k = 0; k < 4; k++)
            b[k] = *(const float2 *)&smem->B[j + k][2 * x_of_thread()];
        for (int r = 0; r < 4; r++) {
            const float4 X = *(const float4 *)&smem->X[y_of_thread() + SIDE * r][j];
            C->of[r][0] += X.x * b[0].x;
            C->of[r][1] += X.x * b[0].y;
            C->of[r][0] += X.y * b[1].x;
            C->of[r][1] += X.y * b[1].y;
            C->of[r][0] += X.z * b[2].x;
            C->of[r][1] += X.z * b[2].y;
            C->of[r][0] += X.w * b[3].x;
            C->of[r][1] += X.w * b[3].y;
        }
    }
}

/* Unscaled S becomes P, 0 for masked pairs. */
__device__ static inline void weights(pairs *S, const fast_memory *smem, const struct attention &p,
                                      int i0, int j0)
{
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const int row = y_of_thread() + SIDE * r, i = i0 + row;
        const int attended = i < (int)p.Nq ? keys_attended(p, i) - j0 : 0;
        for (int c = 0; c < 4; c++)
            S->of[r][c] = x_of_thread() + SIDE * c < attended
                              ? exp_minus(p.scale * S->of[r][c], smem->lse[row])
                              : 0.0f;
    }
}

/* dP becomes unscaled dS. */
__device__ static inline void score_gradients(pairs *dP, const pairs &P, const fast_memory *smem)
{
    // BEGIN SOLUTION
#pragma unroll
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            dP->of[r][c] = pair_dS(P.of[r][c], dP->of[r][c], smem->D[y_of_thread() + SIDE * r]);
    // END SOLUTION
    // STUB: (void)dP, (void)P, (void)smem;
}

template <int HEAD_DIM>
__device__ static inline void store_key_gradients(const gradient_part (&C)[HEAD_DIM / SLICE],
                                                  float *to, int keys, float factor, int d)
{
#pragma unroll
    for (int n = 0; n < HEAD_DIM / SLICE; n++)
        for (int r = 0; r < 4; r++) {
            const int j = 4 * y_of_thread() + r;
            if (j < keys)
                store_two(to + (size_t)j * (size_t)d, n * SLICE + 2 * x_of_thread(), d,
                          make_float2(factor * C[n].of[r][0], factor * C[n].of[r][1]));
        }
}

template <int HEAD_DIM>
__device__ static inline void store_query_gradients(const gradient_part (&C)[HEAD_DIM / SLICE],
                                                    float *to, int rows, float factor, int d)
{
#pragma unroll
    for (int n = 0; n < HEAD_DIM / SLICE; n++)
        for (int r = 0; r < 4; r++) {
            const int i = y_of_thread() + SIDE * r;
            if (i < rows)
                store_two(to + (size_t)i * (size_t)d, n * SLICE + 2 * x_of_thread(), d,
                          make_float2(factor * C[n].of[r][0], factor * C[n].of[r][1]));
        }
}

#endif
