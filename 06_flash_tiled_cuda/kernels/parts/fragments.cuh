/*
 * A tile of FlashAttention-2 on tensor cores, in 16 bits.
 *
 * A warp has M_TILES tiles of 16 queries. With g = lane / 4 and t = lane % 4, a lane has
 * (common/cuda/tensor.h)
 *
 *     S[x][c][2 h + e]    row 16 x + 8 h + g of the warp, key 8 c + 2 t + e
 *     O[x][c][2 h + e]    the same row, element 8 c + 2 t + e
 *
 * so 4 lanes share a row. LAYOUT places chunk c of row r in shared memory.
 */
#ifndef FLASH_TILED_CUDA_FRAGMENTS_CUH
#define FLASH_TILED_CUDA_FRAGMENTS_CUH

#include "06_flash_tiled_cuda/kernels/parts/head.cuh"
#include "06_flash_tiled_cuda/kernels/parts/tiles.h"

enum { CHUNK = 8 };  // elements in 16 bytes
static const unsigned WHOLE_WARP = 0xffffffff;

/* D elements per row, BC columns of S, M_TILES per warp, BLOCKS per multiprocessor. */
template <int D_, int BC_ = TENSOR_BC(D_), int M_TILES_ = 2, int WARPS_ = 4, int BLOCKS_ = 1>
struct kernel_traits {
    enum {
        D = D_,
        BC = BC_,
        M_TILES = M_TILES_,
        WARPS = WARPS_,
        BLOCKS = BLOCKS_,
        BR = 16 * M_TILES * WARPS,
        THREADS = 32 * WARPS,
        ROW = D / CHUNK  // chunks per row
    };
};

/* l is of the lane's own keys, until tensor_finish. */
template <class TRAITS> struct fragments {
    float S[TRAITS::M_TILES][TRAITS::BC / 8][4], O[TRAITS::M_TILES][TRAITS::D / 8][4];
    float m[TRAITS::M_TILES][2], l[TRAITS::M_TILES][2];
};

__device__ static inline int lane_id(void)
{
    return (int)threadIdx.x % 32;
}

/* Rows in the tile: the warp's first, that of S[x][…][2 h + e]. */
template <class TRAITS> __device__ static inline int warp_row(void)
{
    return (int)threadIdx.x / 32 * (16 * TRAITS::M_TILES);
}

template <class TRAITS> __device__ static inline int tensor_row(int x, int h)
{
    return warp_row<TRAITS>() + 16 * x + 8 * h + lane_id() / 4;
}

__device__ static inline int tensor_column(void)  // of 8: 0, 2, 4 or 6
{
    return 2 * (lane_id() % 4);
}

template <class TRAITS> struct linear_rows {
    __device__ static inline int at(int r, int c)
    {
        return r * TRAITS::ROW + c;
    }
};

/* Zero-fills rows >= `end`. */
template <class TRAITS, class LAYOUT, class T>
__device__ static inline void load_tile(uint4 *to, const T *from, int count, int end)
{
    for (int n = (int)threadIdx.x; n < count * TRAITS::ROW; n += TRAITS::THREADS) {
        const int r = n / TRAITS::ROW, c = n % TRAITS::ROW;
        to[LAYOUT::at(r, c)] = r < end ? ((const uint4 *)from)[n] : make_uint4(0, 0, 0, 0);
    }
}

template <class TRAITS> __device__ static inline void begin(fragments<TRAITS> *acc)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++) {
        for (int h = 0; h < 2; h++) {
            acc->m[x][h] = -INFINITY;
            acc->l[x][h] = 0.0f;
        }
        for (int c = 0; c < TRAITS::D / 8; c++)
            for (int e = 0; e < 4; e++)
                acc->O[x][c][e] = 0.0f;
    }
}

/*
 * S = Q K^T, unscaled, 16 elements at a time. An ldmatrix loads A, or B of 16 keys. Swizzling
 * repeats every 8 rows, so other rows are at constant offsets.
 */
template <class T, class LAYOUT, class TRAITS>
__device__ static inline void tensor_scores(fragments<TRAITS> *acc, const uint4 *Q, const uint4 *K)
{
    const int lane = lane_id(), first = warp_row<TRAITS>();
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int c = 0; c < TRAITS::BC / 8; c++)
            for (int e = 0; e < 4; e++)
                acc->S[x][c][e] = 0.0f;
#pragma unroll TRAITS::D / 32  // more would need a register per address
    for (int k = 0; k < TRAITS::D / 16; k++) {
        // BEGIN SOLUTION
        unsigned q[TRAITS::M_TILES][4], key[TRAITS::BC / 16][4];
        const uint4 *const row_of_Q = &Q[LAYOUT::at(first + lane % 16, 2 * k + lane / 16)];
        const uint4 *const row_of_K =
            &K[LAYOUT::at(lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2)];
        for (int x = 0; x < TRAITS::M_TILES; x++)
            ldmatrix(q[x], row_of_Q + 16 * x * TRAITS::ROW);
        for (int c = 0; c < TRAITS::BC / 16; c++)
            ldmatrix(key[c], row_of_K + 16 * c * TRAITS::ROW);
        for (int c = 0; c < TRAITS::BC / 16; c++)
            for (int x = 0; x < TRAITS::M_TILES; x++) {
                mma<T>(acc->S[x][2 * c], q[x], key[c]);
                mma<T>(acc->S[x][2 * c + 1], q[x], key[c] + 2);
            }
        // END SOLUTION
        // STUB: (void)acc, (void)Q, (void)K, (void)lane, (void)first, (void)k;
    }
}

__device__ static inline float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, 1));
    return fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, 2));
}

__device__ static inline float quad_sum(float x)
{
    x += __shfl_xor_sync(WHOLE_WARP, x, 1);
    return x + __shfl_xor_sync(WHOLE_WARP, x, 2);
}

/* Scales, then masks. */
template <class TRAITS>
__device__ static inline void tensor_mask(fragments<TRAITS> *acc, const struct attention &p, int i0,
                                          int j0)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int attended = keys_attended(p, i0 + tensor_row<TRAITS>(x, h)) - j0;
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 0; e < 2; e++) {
                    float *const s = &acc->S[x][c][2 * h + e];
                    *s = 8 * c + tensor_column() + e < attended ? p.scale * *s : -INFINITY;
                }
        }
}

template <class TRAITS> __device__ static inline void tensor_softmax(fragments<TRAITS> *acc)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            float m_new = acc->m[x][h], sum = 0.0f;
            for (int c = 0; c < TRAITS::BC / 8; c++)
                m_new = fmaxf(m_new, fmaxf(acc->S[x][c][2 * h], acc->S[x][c][2 * h + 1]));
            m_new = quad_max(m_new);
            for (int c = 0; c < TRAITS::BC / 8; c++)
                for (int e = 2 * h; e < 2 * h + 2; e++) {
                    acc->S[x][c][e] = exp_minus(acc->S[x][c][e], m_new);
                    sum += acc->S[x][c][e];
                }
            const float rescale = exp_minus(acc->m[x][h], m_new);
            acc->l[x][h] = acc->l[x][h] * rescale + sum;
            for (int c = 0; c < TRAITS::D / 8; c++) {
                acc->O[x][c][2 * h] *= rescale;
                acc->O[x][c][2 * h + 1] *= rescale;
            }
            acc->m[x][h] = m_new;
        }
}

/* O += P V, 16 keys at a time. Packed weights are a lane's part of A; ldmatrix transposes V. */
template <class T, class LAYOUT, class TRAITS>
__device__ static inline void tensor_product(fragments<TRAITS> *acc, const uint4 *V)
{
    const int lane = lane_id();
#pragma unroll
    for (int k = 0; k < TRAITS::BC / 16; k++) {
        unsigned P[TRAITS::M_TILES][4], value[4];
        // BEGIN SOLUTION
        for (int x = 0; x < TRAITS::M_TILES; x++)
            for (int r = 0; r < 4; r++) {
                const float *const s = &acc->S[x][2 * k + r / 2][2 * (r % 2)];
                P[x][r] = pack<T>(s[0], s[1]);
            }
        // END SOLUTION
        // STUB: P[0][0] = P[0][1] = P[0][2] = P[0][3] = 0;
        for (int c = 0; c < TRAITS::D / 8; c += 2) {
            ldmatrix_trans(value, &V[LAYOUT::at(lane % 16, c + lane / 16) + 16 * k * TRAITS::ROW]);
            for (int x = 0; x < TRAITS::M_TILES; x++) {
                mma<T>(acc->O[x][c], P[x], value);
                mma<T>(acc->O[x][c + 1], P[x], value + 2);
            }
        }
    }
}

template <class T, class TRAITS>
__device__ static inline void tensor_finish(const fragments<TRAITS> *acc, T *O, float *lse, int i0,
                                            int Nq)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int i = i0 + tensor_row<TRAITS>(x, h);
            const float l = quad_sum(acc->l[x][h]), divisor = l == 0.0f ? 1.0f : l;
            if (i >= Nq)
                continue;
            unsigned *const row = (unsigned *)(O + (size_t)i * TRAITS::D);
            for (int c = 0; c < TRAITS::D / 8; c++)
                row[(8 * c + tensor_column()) / 2] =
                    pack<T>(acc->O[x][c][2 * h] / divisor, acc->O[x][c][2 * h + 1] / divisor);
            if (lse && tensor_column() == 0)
                lse[i] = acc->m[x][h] + logf(l);
        }
}

#define TENSOR_LAUNCH(launch, p, a, stream)                                                    \
    do {                                                                                       \
        if ((p)->dtype == DTYPE_BF16 && (p)->d == 64)                                          \
            launch<__nv_bfloat16, 64>(p, a, stream);                                           \
        else if ((p)->dtype == DTYPE_BF16 && (p)->d == 128)                                    \
            launch<__nv_bfloat16, 128>(p, a, stream);                                          \
        else if ((p)->dtype == DTYPE_F16 && (p)->d == 64)                                      \
            launch<__half, 64>(p, a, stream);                                                  \
        else if ((p)->dtype == DTYPE_F16 && (p)->d == 128)                                     \
            launch<__half, 128>(p, a, stream);                                                 \
        else                                                                                   \
            not_compiled(__func__, "d = %zu with --dtype %s", (p)->d, dtype_name((p)->dtype)); \
    } while (0)

template <class T> struct tensor_head {
    const T *Q, *K, *V;
    T *O;
    float *lse;
};

template <class T>
__device__ static inline tensor_head<T> tensor_head_of(const struct attention &p,
                                                       const struct device_arrays &a, size_t n)
{
    const size_t row = n * p.Nq, key = (n / p.H * p.Hkv + kv_head(&p, n % p.H)) * p.Nk;
    return { (const T *)a.Q16 + row * p.d, (const T *)a.K16 + key * p.d,
             (const T *)a.V16 + key * p.d, (T *)a.O16 + row * p.d, a.lse ? a.lse + row : nullptr };
}

#endif
