/*
 * A tile of the backward pass whose copies and products are made by Hopper's units. How wgmma takes its matrices is chapter
 * 06's (warpgroup.cuh); what is here is the backward pass's own: pairs that do not count, dS through shared memory, and dQ.
 *
 * A block has 128 keys, 64 for each of its two warpgroups, and tiles of queries come by. They are the columns of a tile of
 * scores, so what chapter 06 calls Q and K, its rows and its columns, are here K and Q, or V and dO.
 *
 * A warpgroup makes 64 by 64 of dQ: of 128 queries with d = 64 its half, of 64 queries with d = 128 half of their elements.
 */
#ifndef BACKWARD_WGMMA_CUH
#define BACKWARD_WGMMA_CUH

#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"
#include "07_backward/kernels/parts/tensor.cuh"

/* The arrays of all heads, as the TMA has to know them. */
struct backward_maps {
    tensor_map Q, K, V, dO;
};

template <class T, class TRAITS>
static struct backward_maps make_backward_maps(const struct attention *p,
                                               const struct backward_arrays *a)
{
    struct backward_maps maps;
    make_map<T>(&maps.Q, a->Q16, p->B * p->H, p->Nq, p->d, TRAITS::BC);
    make_map<T>(&maps.dO, a->dO16, p->B * p->H, p->Nq, p->d, TRAITS::BC);
    make_map<T>(&maps.K, a->K16, p->B * p->Hkv, p->Nk, p->d, TRAITS::BR);
    make_map<T>(&maps.V, a->V16, p->B * p->Hkv, p->Nk, p->d, TRAITS::BR);
    return maps;
}

/* The number of a thread's warpgroup. */
__device__ static inline int group_of_thread(void)
{
    return (int)threadIdx.x / 128;
}

/* dS^T, packed as wgmma takes it from registers, goes to shared memory as well: a row is a key's, in boxes of 64 queries. */
template <class TRAITS>
__device__ static inline void share_dS(unsigned char *dS,
                                       const unsigned (&packed)[TRAITS::BC / 16][4])
{
    const int row = tensor_row<TRAITS>(0, 0);
    int first =
        row * ROW_BYTES + row % 8 * 16 + 2 * tensor_column();  // of piece 0, whose place is row % 8

#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++) {
        unsigned char *const piece = dS + c / 8 * TRAITS::BR * ROW_BYTES + (first ^ c % 8 * 16);
        for (int h = 0; h < 2; h++)
            *(unsigned *)(piece + 8 * h * ROW_BYTES) = packed[c / 2][c % 2 * 2 + h];
    }
}

/* The rows of K from `from` on become 0: no query of the tile attends to these keys. */
template <class TRAITS> __device__ static inline void blank_keys(unsigned char *K, int from)
{
    uint4 *const pieces = (uint4 *)K;
    for (int n = (int)threadIdx.x; n < TRAITS::BR * TRAITS::ROW; n += TRAITS::THREADS)
        if (n / 8 % TRAITS::BR >= from)
            pieces[n] = make_uint4(0, 0, 0, 0);
}

/*
 * Asks for this warpgroup's part of dQ = dS K, 16 keys at a time. dS^T lies by keys, and so does K: wgmma takes both with their
 * columns together, and so A is transposed on its way.
 */
template <class T, class TRAITS>
__device__ static inline void ask_dQ(float (&dQ)[32], const unsigned char *dS,
                                     const unsigned char *K)
{
    enum { BOX = TRAITS::BR * ROW_BYTES };
    const unsigned box = warpgroup_number() * BOX;
    const uint64_t queries = wgmma_matrix(dS + (TRAITS::BC > 64 ? box : 0), BOX, EIGHT_ROWS);
    const uint64_t elements = wgmma_matrix(K + (TRAITS::D > 64 ? box : 0), BOX, EIGHT_ROWS);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < TRAITS::BR / 16; k++)
        wgmma<T, MN_MAJOR, MN_MAJOR>(dQ, wgmma_further(queries, 16 * k * ROW_BYTES),
                                     wgmma_further(elements, 16 * k * ROW_BYTES), k > 0);
    wgmma_commit();
}

/* The row of the tile and the element that are number n of a thread's part of dQ. */
template <class TRAITS> __device__ static inline int row_of_dQ(int n)
{
    const int row = (int)threadIdx.x % 128 / 32 * 16 + n / 2 % 2 * 8 + lane_of_warp() / 4;
    return row + (TRAITS::BC > 64 ? group_of_thread() * GROUP_ROWS : 0);
}

template <class TRAITS> __device__ static inline int element_of_dQ(int n)
{
    return n / 4 * 8 + tensor_column() + n % 2 + (TRAITS::D > 64 ? group_of_thread() * 64 : 0);
}

/*
 * Floats from one row of dQ in shared memory to the next: d, and 8 more. A warp stores pairs of 8 rows, and half of it at a
 * time: then four rows that lie 32 bytes apart are in different banks.
 */
template <class TRAITS> __host__ __device__ constexpr int dQ_row(void)
{
    return TRAITS::D + 8;
}

/* factor dQ, this warpgroup's part, goes to shared memory. */
template <class TRAITS>
__device__ static inline void share_dQ(float *to, const float (&dQ)[32], float factor)
{
    float *const first = to + row_of_dQ<TRAITS>(0) * dQ_row<TRAITS>() + element_of_dQ<TRAITS>(0);
#pragma unroll
    for (int n = 0; n < 32; n += 2)
        *(float2 *)(first + n / 2 % 2 * 8 * dQ_row<TRAITS>() + n / 4 * 8) =
            make_float2(factor * dQ[n], factor * dQ[n + 1]);
}

#endif
