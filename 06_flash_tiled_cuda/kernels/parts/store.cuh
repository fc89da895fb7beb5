/*
 * The TMA stores O from boxes in shared memory, without rows past the last query.
 *
 * A box is 64 queries by 64 elements, swizzled for stmatrix, which stores eight rows at once.
 */
#ifndef FLASH_TILED_CUDA_STORE_CUH
#define FLASH_TILED_CUDA_STORE_CUH

#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"

enum { O_BOX = GROUP_ROWS * ROW_BYTES, STORE_BARRIER = 5 };  // of warpgroup 0
enum { STORE_ROOM = 226 << 10 };                             // mbarriers need the rest of 227 kB

/* Boxes per row; boxes per warpgroup, one if rows do not fit. */
template <class TRAITS, int STAGES> struct store_boxes {
    enum {
        TILES = (int)pipeline_bytes<TRAITS, STAGES>(),
        GROUPS = TRAITS::BR / GROUP_ROWS,
        ROW_BOXES = TRAITS::D / BOX_WIDTH,
        GROUP_BOXES = TILES + GROUPS * ROW_BOXES * O_BOX <= STORE_ROOM ? ROW_BOXES : 1,
        BYTES = TILES + GROUPS * GROUP_BOXES * O_BOX
    };
};

/* The first thread of a warpgroup waits until PENDING of its boxes, or fewer, are unread. */
template <int PENDING = 0> __device__ static inline void wait_boxes_read(void)
{
    if (threadIdx.x % 128 == 0)
        bulk_wait_read<PENDING>();
}

template <class TRAITS>
__device__ static inline void store_lse(const fragments<TRAITS> *acc, float (&inverse)[2],
                                        float *lse, int i0, int Nq)
{
    for (int h = 0; h < 2; h++) {
        const int i = i0 + tensor_row<TRAITS>(0, h);
        const float l = quad_sum(acc->l[0][h]);
        inverse[h] = reciprocal(l == 0.0f ? 1.0f : l);
        if (lse && tensor_column() == 0 && i < Nq)
            lse[i] = acc->m[0][h] + logf(l);
    }
}

/* Each lane addresses a row of four 8 x 8 matrices. */
template <class T, class TRAITS>
__device__ static inline void fill_box(const fragments<TRAITS> *acc, const float (&inverse)[2],
                                       unsigned char *box, int first)
{
    const int lane = lane_id(), row = (int)threadIdx.x % 128 / 32 * 16 + lane % 16;
    const int place = row * ROW_BYTES + (lane / 16 ^ row % 8) * 16;
#pragma unroll
    for (int c = 0; c < 8; c += 2) {
        unsigned r[4];
        for (int m = 0; m < 4; m++) {
            const float *const o = &acc->O[0][first + c + m / 2][m % 2 * 2];
            r[m] = pack<T>(o[0] * inverse[m % 2], o[1] * inverse[m % 2]);
        }
        stmatrix(box + (place ^ c * 16), r);
    }
}

/* Lines 12 to 15, for 64 rows. lse is of all heads, or NULL. The caller waits for the copies. */
template <class T, int BOXES, class TRAITS>
__device__ static inline void group_store(const fragments<TRAITS> *acc, unsigned char *boxes,
                                          const tensor_map *map, float *lse, int i0, int Nq,
                                          int head)
{
    const unsigned warpgroup = warpgroup_number();
    float inverse[2];
    store_lse(acc, inverse, lse ? lse + (size_t)head * (size_t)Nq : nullptr, i0, Nq);
#pragma unroll
    for (int b = 0; b < TRAITS::D / BOX_WIDTH; b++) {
        unsigned char *const box = boxes + ((int)warpgroup * BOXES + b % BOXES) * O_BOX;
        wait_boxes_read<BOXES - 1>();
        barrier_sync(STORE_BARRIER + warpgroup, 128);  // the box has been read
        fill_box<T>(acc, inverse, box, b * BOX_WIDTH / 8);
        fence_async();  // visible to the TMA
        barrier_sync(STORE_BARRIER + warpgroup, 128);
        if (threadIdx.x % 128 == 0) {
            tma_store(map, box, b * BOX_WIDTH, i0 + (int)warpgroup * GROUP_ROWS, head);
            bulk_commit();
        }
    }
}

#endif
