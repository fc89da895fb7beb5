/*
 * O goes to global memory by the TMA: from registers to boxes in shared memory, and from there in one copy each.
 *
 * A box is 64 queries by 64 elements, and lies as a tensor map has it, swizzled: so the eight rows of a matrix, which stmatrix
 * stores at the same time, are in different banks. Rows past the last query are in the box, and the copy leaves them out.
 */
#ifndef FLASH_TILED_CUDA_STORE_CUH
#define FLASH_TILED_CUDA_STORE_CUH

#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"

enum { O_BOX = GROUP_ROWS * ROW_BYTES, STORE_BARRIER = 5 };  // and one for each warpgroup
enum { STORE_ROOM = 226 << 10 };  // of 227 kB a block, all but the mbarriers

/* Boxes of a warpgroup: all of its rows have room, or, if K and V leave less, one box after the other has. And all bytes. */
template <class TRAITS, int STAGES> struct store_boxes {
    enum {
        TILES = (int)pipeline_bytes<TRAITS, STAGES>(),
        GROUPS = TRAITS::BR / GROUP_ROWS,
        EVERY = TRAITS::D / BOX_WIDTH,
        EACH = TILES + GROUPS * EVERY * O_BOX <= STORE_ROOM ? EVERY : 1,
        BYTES = TILES + GROUPS * EACH * O_BOX
    };
};

/* The copies that a warpgroup's first thread has issued have read its boxes, but for the last PENDING. */
template <int PENDING = 0> __device__ static inline void boxes_read(void)
{
    if (threadIdx.x % 128 == 0)
        bulk_wait_read<PENDING>();
}

/* l, and 1 / l for O; lse goes to global memory. */
template <class TRAITS>
__device__ static inline void store_lse(const fragments<TRAITS> *acc, float (&inverse)[2],
                                        float *lse, int i0, int Nq)
{
    for (int h = 0; h < 2; h++) {
        const int i = i0 + tensor_row<TRAITS>(0, h);
        const float l = four_sum(acc->l[0][h]);
        inverse[h] = reciprocal(l == 0.0f ? 1.0f : l);
        if (lse && tensor_column() == 0 && i < Nq)
            lse[i] = acc->m[0][h] + logf(l);
    }
}

/* A lane names a row of the four matrices: 16 rows of its warp, in one 16-byte chunk and the next. */
template <class T, class TRAITS>
__device__ static inline void fill_box(const fragments<TRAITS> *acc, const float (&inverse)[2],
                                       unsigned char *box, int first)
{
    const int lane = lane_of_warp(), row = (int)threadIdx.x % 128 / 32 * 16 + lane % 16;
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

/* Lines 12 to 15 of the paper, for the 64 rows of a warpgroup. lse is that of all heads, or NULL. */
template <class T, int BOXES, class TRAITS>
__device__ static inline void group_store(const fragments<TRAITS> *acc, unsigned char *boxes,
                                          const tensor_map *map, float *lse, int i0, int Nq,
                                          int head)
{
    const unsigned who = warpgroup_number();
    float inverse[2];
    store_lse(acc, inverse, lse ? lse + (size_t)head * (size_t)Nq : nullptr, i0, Nq);
#pragma unroll
    for (int b = 0; b < TRAITS::D / BOX_WIDTH; b++) {
        unsigned char *const box = boxes + ((int)who * BOXES + b % BOXES) * O_BOX;
        boxes_read<BOXES - 1>();
        barrier_sync(STORE_BARRIER + who, 128);  // what was in this box before has been read
        fill_box<T>(acc, inverse, box, b * BOX_WIDTH / 8);
        fence_async();  // threads have written what the TMA will read
        barrier_sync(STORE_BARRIER + who, 128);
        if (threadIdx.x % 128 == 0) {
            tma_store(map, box, b * BOX_WIDTH, i0 + (int)who * GROUP_ROWS, head);
            bulk_commit();
        }
    }
}

#endif
