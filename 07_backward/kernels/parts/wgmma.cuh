/*
 * Backward tiles with TMA and wgmma.
 *
 * A block has 128 keys, 64 per warpgroup; queries are columns, so K and Q, or V and dO, replace
 * chapter 06's Q and K. A warpgroup computes 64 by 64 of dQ: half of 128 queries (d = 64), or half
 * of the elements of 64 (d = 128).
 */
#ifndef BACKWARD_WGMMA_CUH
#define BACKWARD_WGMMA_CUH

#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"
#include "07_backward/kernels/parts/tensor.cuh"

struct backward_maps {
    tensor_map Q, K, V, dO, dQ, dK, dV;  // dK and dV only for store
};

/* A 128-byte row holds 32 floats. */
enum { DQ_BOX_WIDTH = BOX_WIDTH / 2, DQ_BOX = GROUP_ROWS * ROW_BYTES };

static void make_map_of_dQ(tensor_map *map, float *dQ, const struct attention *p)
{
    const uint64_t size[3] = { p->d, p->Nq, p->B * p->H };
    const uint64_t stride[2] = { p->d * sizeof *dQ, p->Nq * p->d * sizeof *dQ };
    const uint32_t box[3] = { DQ_BOX_WIDTH, GROUP_ROWS, 1 };
    CHECK_CUDA(tensor_map_make(map, dQ, 3, size, stride, box));
}

template <class T, class TRAITS>
static struct backward_maps make_backward_maps(const struct attention *p,
                                               const struct backward_arrays *a)
{
    struct backward_maps maps;
    make_map<T>(&maps.Q, a->Q16, p->B * p->H, p->Nq, p->d, TRAITS::QUERIES);
    make_map<T>(&maps.dO, a->dO16, p->B * p->H, p->Nq, p->d, TRAITS::QUERIES);
    make_map<T>(&maps.K, a->K16, p->B * p->Hkv, p->Nk, p->d, TRAITS::KEYS);
    make_map<T>(&maps.V, a->V16, p->B * p->Hkv, p->Nk, p->d, TRAITS::KEYS);
    make_map_of_dQ(&maps.dQ, a->dQ, p);
    return maps;
}

__device__ static inline int group_of_thread(void)
{
    return (int)threadIdx.x / 128;
}

/* A row per key, boxes of 64 queries. */
template <class TRAITS>
__device__ static inline void share_dS(unsigned char *dS,
                                       const unsigned (&packed)[TRAITS::BC / 16][4])
{
    const int row = tensor_row<TRAITS>(0, 0);
    int first =
        row * ROW_BYTES + row % 8 * 16 + 2 * tensor_column();  // of chunk 0, which is at row % 8

#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++) {
        unsigned char *const chunk = dS + c / 8 * TRAITS::KEYS * ROW_BYTES + (first ^ c % 8 * 16);
        for (int h = 0; h < 2; h++)
            *(unsigned *)(chunk + 8 * h * ROW_BYTES) = packed[c / 2][c % 2 * 2 + h];
    }
}

/* K = 0 in rows >= `from`, for all later tiles too. */
template <class TRAITS> __device__ static inline void zero_keys(unsigned char *K, int from)
{
    uint4 *const chunks = (uint4 *)K;
    for (int n = (int)threadIdx.x; n < TRAITS::KEYS * TRAITS::ROW; n += TRAITS::THREADS)
        if (n / 8 % TRAITS::KEYS >= from)
            chunks[n] = make_uint4(0, 0, 0, 0);
}

/* Nq if not all of the block's keys exist. */
template <class TRAITS>
__device__ static inline int first_unmasked_query(const struct attention &p, int j0)
{
    const ptrdiff_t first = j0 + TRAITS::KEYS - 1 - attention_band(&p).high;
    return j0 + TRAITS::KEYS > (int)p.Nk ? (int)p.Nq : first > 0 ? (int)first : 0;
}

/* S becomes P, unmasked. Shifts are log2(e) lse. */
template <class TRAITS>
__device__ static inline void weights_by_shifts(fragments<TRAITS> *acc, float k,
                                                const float *shifts)
{
#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++)
        for (int s = 0; s < 4; s++)
            acc->S[0][c][s] =
                ex2(fmaf(acc->S[0][c][s], k, -shifts[8 * c + tensor_column() + s % 2]));
}

/* In other tiles, zero_masked_dS follows. */
template <class TRAITS>
__device__ static inline void dS_of_full_tile(fragments<TRAITS> *acc, const fragments<TRAITS> &P,
                                              const float *D)
{
#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++)
        for (int s = 0; s < 4; s++)
            acc->S[0][c][s] = P.S[0][c][s] * (acc->S[0][c][s] - D[8 * c + tensor_column() + s % 2]);
}

/* Like pair_dS. */
template <class TRAITS>
__device__ static inline void zero_masked_dS(fragments<TRAITS> *acc, const fragments<TRAITS> &P)
{
#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++)
        for (int s = 0; s < 4; s++)
            if (P.S[0][c][s] == 0.0f)
                acc->S[0][c][s] = 0.0f;
}

template <class T, class TRAITS>
__device__ static inline void issue_dQ(float (&dQ)[32], const unsigned char *dS,
                                       const unsigned char *K)
{
    enum { BOX = TRAITS::KEYS * ROW_BYTES };
    const unsigned box = warpgroup_number() * BOX;
    const uint64_t queries = wgmma_matrix(dS + (TRAITS::QUERIES > 64 ? box : 0), BOX, EIGHT_ROWS);
    const uint64_t elements = wgmma_matrix(K + (TRAITS::D > 64 ? box : 0), BOX, EIGHT_ROWS);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < TRAITS::KEYS / 16; k++)
        wgmma<T, MN_MAJOR, MN_MAJOR>(dQ, wgmma_further(queries, 16 * k * ROW_BYTES),
                                     wgmma_further(elements, 16 * k * ROW_BYTES), k > 0);
    wgmma_commit();
}

/* The row and column of a thread's n-th element of dQ. */
template <class TRAITS> __device__ static inline int row_of_dQ(int n)
{
    const int row = (int)threadIdx.x % 128 / 32 * 16 + n / 2 % 2 * 8 + lane_id() / 4;
    return row + (TRAITS::QUERIES > 64 ? group_of_thread() * GROUP_ROWS : 0);
}

template <class TRAITS> __device__ static inline int element_of_dQ(int n)
{
    return n / 4 * 8 + tensor_column() + n % 2 + (TRAITS::D > 64 ? group_of_thread() * 64 : 0);
}

/*
 * Stores dQ in two swizzled boxes with 32 floats per row. Each half-warp writes float2s to four
 * rows. Pair k of adjacent rows is in the same banks, so odd rows write pair k ^ 2 first.
 */
template <class TRAITS>
__device__ static inline void share_dQ(unsigned char *boxes, const float (&dQ)[32], float factor)
{
    const int lane = lane_id(), row = (int)threadIdx.x % 128 / 32 * 16 + lane / 4;
    const bool odd = row % 2;
    const int first =
        row * ROW_BYTES + ((lane % 4 / 2 ^ row % 8 ^ (odd ? 4 : 0)) * 16) + lane % 2 * 8;
    unsigned char *const my_boxes = boxes + (int)warpgroup_number() * 2 * DQ_BOX;
#pragma unroll
    for (int k = 0; k < 8; k++)
        for (int h = 0; h < 2; h++) {
            const float *const even_row = &dQ[4 * k + 2 * h];
            const float *const odd_row = &dQ[4 * (k ^ 2) + 2 * h];
            *(float2 *)(my_boxes + k / 4 * DQ_BOX + (first ^ k % 4 * 32) + 8 * h * ROW_BYTES) =
                make_float2(factor * (odd ? odd_row[0] : even_row[0]),
                            factor * (odd ? odd_row[1] : even_row[1]));
        }
}

/* A warpgroup's part. The caller commits. */
template <class TRAITS>
__device__ static inline void tma_add_part(const tensor_map *map, const unsigned char *boxes,
                                           int group, int i0, int head)
{
    const int row = TRAITS::QUERIES > 64 ? group * GROUP_ROWS : 0;
    const int element = TRAITS::D > 64 ? group * 64 : 0;
#pragma unroll
    for (int b = 0; b < 2; b++)
        tma_add(map, (const float *)(boxes + (2 * group + b) * DQ_BOX), element + b * DQ_BOX_WIDTH,
                i0 + row, head);
}

/* For one thread, after fence_async and a barrier. */
template <class TRAITS>
__device__ static inline void tma_add_dQ(const tensor_map *map, const unsigned char *boxes, int i0,
                                         int head)
{
    tma_add_part<TRAITS>(map, boxes, 0, i0, head);
    tma_add_part<TRAITS>(map, boxes, 1, i0, head);
    bulk_commit();
}

#endif
