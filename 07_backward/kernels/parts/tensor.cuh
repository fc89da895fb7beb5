/*
 * A tile's rows are keys or queries; for two gradients a lane has fragments S and O:
 *
 *     rows are keys       dV.S = P^T,  dV.O = dV        dK.S = dP^T, then dS^T,  dK.O = dK
 *     rows are queries     P.S = P                      dQ.S = dP, then dS,      dQ.O = dQ
 *
 * Names end in of_keys or of_queries accordingly. If rows are keys, copy_keys copies Q and dO. P
 * and dS are rounded to 16 bits for the next product.
 */
#ifndef BACKWARD_TENSOR_CUH
#define BACKWARD_TENSOR_CUH

#include "06_flash_tiled_cuda/kernels/parts/powers.cuh"
#include "07_backward/kernels/kernels.h"
#include "07_backward/kernels/parts/tensor_tiles.h"

static const float LOG2E = 1.44269504f;

/* For S^T: rows are keys. */
template <int D, int QUERIES_, int M_TILES, int WARPS, int BLOCKS = 1>
struct key_traits : kernel_traits<D, QUERIES_, M_TILES, WARPS, BLOCKS> {
    enum { KEYS = 16 * M_TILES * WARPS, QUERIES = QUERIES_ };
};

template <class T> struct backward_head {
    const T *Q, *K, *V, *dO;
    const float *lse, *D;
    float *dQ, *dK, *dV;
};

template <class T>
__device__ static inline backward_head<T>
backward_head_of(const struct attention &p, const struct backward_arrays &a, size_t n)
{
    const size_t row = n * p.Nq, key = (n / p.H * p.Hkv + kv_head(&p, n % p.H)) * p.Nk;
    return { (const T *)a.Q16 + row * p.d,
             (const T *)a.K16 + key * p.d,
             (const T *)a.V16 + key * p.d,
             (const T *)a.dO16 + row * p.d,
             a.lse + row,
             a.D + row,
             a.dQ + row * p.d,
             a.dK + key * p.d,
             a.dV + key * p.d };
}

/* The first tile of queries that may attend to key j. */
template <int Br> __device__ static inline int first_tile(const struct attention &p, int j)
{
    const ptrdiff_t first = j - attention_band(&p).high;
    return first > 0 ? (int)first / Br : 0;
}

/* lse, then D, of `count` queries, 0 past the last. */
template <class TRAITS>
__device__ static inline void copy_statistics(float *to, const float *lse, const float *D, int i0,
                                              int count, int Nq)
{
    for (int n = (int)threadIdx.x; n < 2 * count; n += TRAITS::THREADS) {
        const int i = i0 + n % count;
        const bool valid = i < Nq;
        cp_async<4>(&to[n], (n < count ? lse : D) + (valid ? i : 0), valid ? 4 : 0);
    }
}

/* P = 2^{k S - log2(e) lse}, k = scale log2(e); 0 for S = -inf, even if lse = -inf. */
__device__ static inline float weight_of(float S, float k, float lse)
{
    return ex2(fmaf(S, k, -shift_of(LOG2E, lse)));
}

/* Like pair_dS. */
__device__ static inline float dS_of(float P, float dP, float D)
{
    return P == 0.0f ? 0.0f : P * (dP - D);
}

/* S becomes P, unmasked. Columns are queries. */
template <class TRAITS>
__device__ static inline void weights_by_columns(fragments<TRAITS> *acc, float scale,
                                                 const float *lse)
{
    const float k = scale * LOG2E;
#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++)
        for (int e = 0; e < 2; e++) {
            const float lse_i = lse[8 * c + tensor_column() + e];
            for (int x = 0; x < TRAITS::M_TILES; x++)
                for (int s = e; s < 4; s += 2)
                    acc->S[x][c][s] = weight_of(acc->S[x][c][s], k, lse_i);
        }
}

/* Columns are queries; query i attends to keys j <= i + high. */
template <class TRAITS>
__device__ static inline void zero_masked(fragments<TRAITS> *acc, const struct attention &p, int j0,
                                          int i0)
{
    const int end = (int)p.Nq - i0 - tensor_column();
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int j = j0 + tensor_row<TRAITS>(x, h);
            const ptrdiff_t first_visible = j - attention_band(&p).high - i0 - tensor_column();
            const int first = j >= (int)p.Nk ? end : first_visible > 0 ? (int)first_visible : 0;
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 0; e < 2; e++)
                    if (8 * c + e < first || 8 * c + e >= end)
                        acc->S[x][c][2 * h + e] = 0.0f;
        }
}

template <class TRAITS>
__device__ static inline void weights_of_keys(fragments<TRAITS> *acc, const struct attention &p,
                                              const float *lse, int j0, int i0)
{
    weights_by_columns(acc, p.scale, lse);
    if (keys_attended(p, i0) < j0 + TRAITS::KEYS || i0 + TRAITS::QUERIES > (int)p.Nq)
        zero_masked(acc, p, j0, i0);
}

template <class TRAITS>
__device__ static inline void dS_of_keys(fragments<TRAITS> *acc, const fragments<TRAITS> &P,
                                         const float *D)
{
#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++)
        for (int e = 0; e < 2; e++) {
            const float D_i = D[8 * c + tensor_column() + e];
            for (int x = 0; x < TRAITS::M_TILES; x++)
                for (int s = e; s < 4; s += 2)
                    acc->S[x][c][s] = dS_of(P.S[x][c][s], acc->S[x][c][s], D_i);
        }
}

template <class TRAITS>
__device__ static inline void weights_of_queries(fragments<TRAITS> *acc, const struct attention &p,
                                                 const float *lse, int i0, int j0)
{
    const float k = p.scale * LOG2E;
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int row = tensor_row<TRAITS>(x, h), i = i0 + row;
            const int attended = i < (int)p.Nq ? keys_attended(p, i) - j0 - tensor_column() : 0;
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 0; e < 2; e++) {
                    float *const s = &acc->S[x][c][2 * h + e];
                    *s = 8 * c + e < attended ? weight_of(*s, k, lse[row]) : 0.0f;
                }
        }
}

template <class TRAITS>
__device__ static inline void dS_of_queries(fragments<TRAITS> *acc, const fragments<TRAITS> &P,
                                            const float *D)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const float D_i = D[tensor_row<TRAITS>(x, h)];
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int s = 2 * h; s < 2 * h + 2; s++)
                    acc->S[x][c][s] = dS_of(P.S[x][c][s], acc->S[x][c][s], D_i);
        }
}

__device__ static inline void add_four(float *to, float4 x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    atomicAdd((float4 *)to, x);
#else
    atomicAdd(to, x.x);
    atomicAdd(to + 1, x.y);
    atomicAdd(to + 2, x.z);
    atomicAdd(to + 3, x.w);
#endif
}

/* Stores rows < `count`, times factor. TRAITS::D may be half a row. */
template <class TRAITS>
__device__ static inline void store_gradient(const fragments<TRAITS> *acc, float *to, int count,
                                             float factor)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int row = tensor_row<TRAITS>(x, h);
            if (row >= count)
                continue;
            for (int c = 0; c < TRAITS::D / 8; c++)
                *(float2
                      *)&to[(size_t)row * TRAITS::ROW * CHUNK + (size_t)(8 * c + tensor_column())] =
                    make_float2(factor * acc->O[x][c][2 * h], factor * acc->O[x][c][2 * h + 1]);
        }
}

#endif
