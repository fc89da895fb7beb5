/*
 * A tile with Hopper's TMA and wgmma. wgmma computes 64 rows, 16 per warp, with mma's fragment
 * layout. Boxes are 64 elements wide; rows of 128 take two.
 */
#ifndef FLASH_TILED_CUDA_WARPGROUP_CUH
#define FLASH_TILED_CUDA_WARPGROUP_CUH

#include "06_flash_tiled_cuda/kernels/parts/rescale.cuh"
#include "common/cuda/hopper.h"

enum { BOX_WIDTH = 64, GROUP_ROWS = 64, ROW_BYTES = 128, EIGHT_ROWS = 1024 };

struct tile_maps {
    tensor_map Q, K, V, O;  // O only for store
};

/* (heads, N, D) in boxes of `rows` rows. Past row N - 1 a box has zeros, not the next head. */
template <class T>
static void make_map(tensor_map *map, const uint16_t *array, size_t heads, size_t N, size_t d,
                     unsigned rows)
{
    const uint64_t size[3] = { d, N, heads }, stride[2] = { d * sizeof(T), N * d * sizeof(T) };
    const uint32_t box[3] = { BOX_WIDTH, rows, 1 };
    CHECK_CUDA(tensor_map_make(map, (const T *)array, 3, size, stride, box));
}

template <class T, class TRAITS>
static struct tile_maps make_maps(const struct attention *p, const struct device_arrays *a)
{
    struct tile_maps maps;
    make_map<T>(&maps.Q, a->Q16, p->B * p->H, p->Nq, p->d, TRAITS::BR);
    make_map<T>(&maps.K, a->K16, p->B * p->Hkv, p->Nk, p->d, TRAITS::BC);
    make_map<T>(&maps.V, a->V16, p->B * p->Hkv, p->Nk, p->d, TRAITS::BC);
    return maps;
}

template <int ROWS, int D>
__device__ static inline void tma_load_rows(unsigned char *to, const tensor_map *map, uint64_t *bar,
                                            int row, int head)
{
    for (int x = 0; x < D; x += BOX_WIDTH)
        tma_load(to + x / BOX_WIDTH * ROWS * ROW_BYTES, map, bar, x, row, head);
}

/* V = 0 in rows >= `from`: masked keys may be NaN. */
template <class TRAITS> __device__ static inline void zero_values(unsigned char *V, int from)
{
    uint4 *const chunks = (uint4 *)V;
    for (int n = (int)threadIdx.x; n < TRAITS::BC * TRAITS::ROW; n += TRAITS::THREADS)
        if (n / 8 % TRAITS::BC >= from)
            chunks[n] = make_uint4(0, 0, 0, 0);
}

/* For query head n; a 64-bit division is a call. */
__device__ static inline int kv_head_index(const struct attention &p, unsigned n)
{
    return (int)(n / ((unsigned)p.H / (unsigned)p.Hkv));
}

template <int R, class A> __device__ static inline float (&flat(A &fragments))[R]
{
    static_assert(sizeof fragments == R * sizeof(float),
                  "wgmma takes fragments as one array of R floats");
    return *(float(*)[R]) & fragments;
}

/* x, equal in all lanes. The shuffle lets the compiler use a uniform register. */
__device__ static inline int warp_uniform(int x)
{
    return __shfl_sync(WHOLE_WARP, x, 0);
}

__device__ static inline unsigned warpgroup_number(void)
{
    return (unsigned)warp_uniform((int)threadIdx.x / 128);
}

/* True in one thread of warp n; by `threadIdx.x == 32 * n` the compiler would loop over threads. */
__device__ static inline bool one_of_warp(int n)
{
    return warp_uniform((int)threadIdx.x / 32) == n && elect_one();
}

/* One arrival suffices if only tensor cores have read; if threads have, call a barrier first. */
__device__ static inline void warpgroup_arrive(uint64_t *bar)
{
    if (threadIdx.x % 128 == 0)
        mbarrier_arrive(bar);
}

__device__ static inline const unsigned char *rows_of_group(const unsigned char *matrix)
{
    return matrix + warpgroup_number() * GROUP_ROWS * ROW_BYTES;
}

/* Issues S = Q K^T, 16 elements at a time. */
template <class T, class TRAITS>
__device__ static inline void issue_scores(fragments<TRAITS> *acc, const unsigned char *Q,
                                           const unsigned char *K)
{
    enum { Q_BOX = TRAITS::BR * ROW_BYTES, K_BOX = TRAITS::BC * ROW_BYTES };
    float(&S)[TRAITS::BC / 2] = flat<TRAITS::BC / 2>(acc->S);
    const uint64_t q = wgmma_matrix(Q, 0, EIGHT_ROWS), key = wgmma_matrix(K, 0, EIGHT_ROWS);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < TRAITS::D / 16; k++)
        wgmma<T, K_MAJOR>(S, wgmma_further(q, k / 4 * Q_BOX + k % 4 * 32),
                          wgmma_further(key, k / 4 * K_BOX + k % 4 * 32), k > 0);
    wgmma_commit();
}

template <class T, class TRAITS>
__device__ static inline void pack_weights(const fragments<TRAITS> *acc,
                                           unsigned (&P)[TRAITS::BC / 16][4])
{
#pragma unroll
    for (int k = 0; k < TRAITS::BC / 16; k++)
        for (int r = 0; r < 4; r++) {
            const float *const s = &acc->S[0][2 * k + r / 2][2 * (r % 2)];
            P[k][r] = pack<T>(s[0], s[1]);
        }
}

/* Issues O += P V, 16 keys at a time. */
template <class T, class TRAITS>
__device__ static inline void issue_product(fragments<TRAITS> *acc,
                                            const unsigned (&P)[TRAITS::BC / 16][4],
                                            const unsigned char *V)
{
    float(&O)[TRAITS::D / 2] = flat<TRAITS::D / 2>(acc->O);
    const uint64_t value = wgmma_matrix(V, TRAITS::BC * ROW_BYTES, EIGHT_ROWS);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < TRAITS::BC / 16; k++)
        wgmma<T, MN_MAJOR>(O, P[k], wgmma_further(value, 16 * k * ROW_BYTES), true);
    wgmma_commit();
}

template <class T, class TRAITS>
__device__ static inline void group_scores(fragments<TRAITS> *acc, const unsigned char *Q,
                                           const unsigned char *K)
{
    issue_scores<T>(acc, Q, K);
    wgmma_wait<0>(flat<TRAITS::BC / 2>(acc->S));
}

template <class T, class TRAITS>
__device__ static inline void group_product(fragments<TRAITS> *acc, const unsigned char *V)
{
    unsigned P[TRAITS::BC / 16][4];
    pack_weights<T>(acc, P);
    issue_product<T>(acc, P, V);
    wgmma_wait<0>(flat<TRAITS::D / 2>(acc->O), P);
}

/*
 * Like tensor_finish, but multiplies by 1 / l: IEEE division contains a call for extreme operands.
 * l is 0 or at least 1.
 */
template <class T, class TRAITS>
__device__ static inline void group_finish(const fragments<TRAITS> *acc, T *O, float *lse, int i0,
                                           int Nq)
{
#pragma unroll
    for (int x = 0; x < TRAITS::M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const int i = i0 + tensor_row<TRAITS>(x, h);
            const float l = quad_sum(acc->l[x][h]), inverse = reciprocal(l == 0.0f ? 1.0f : l);
            if (i >= Nq)
                continue;
            unsigned *const row = (unsigned *)(O + (size_t)i * TRAITS::D);
            for (int c = 0; c < TRAITS::D / 8; c++)
                row[(8 * c + tensor_column()) / 2] =
                    pack<T>(acc->O[x][c][2 * h] * inverse, acc->O[x][c][2 * h + 1] * inverse);
            if (lse && tensor_column() == 0)
                lse[i] = acc->m[x][h] + logf(l);
        }
}

#endif
