/*
 * Tiles on their way from producers to all consumers, with room for STAGES: an mbarrier for each stage says that it is full,
 * and one that it is empty. Tile n is in stage n % STAGES, and n goes on counting as long as the block stays.
 */
#ifndef FLASH_TILED_CUDA_FULL_EMPTY_CUH
#define FLASH_TILED_CUDA_FULL_EMPTY_CUH

#include "06_flash_tiled_cuda/kernels/parts/warpgroup.cuh"

// clang-format off

template <int STAGES> struct pipeline {
    uint64_t full[STAGES], empty[STAGES];

    static __device__ int stage(int n) { return n % STAGES; }
    static __device__ int parity(int n) { return n / STAGES % 2; }
    __device__ void init(unsigned consumers, unsigned producers = 1)
    {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&full[s], producers);
            mbarrier_init(&empty[s], consumers);
        }
    }
    __device__ void producer_acquire(int n) { mbarrier_wait(&empty[stage(n)], parity(n) ^ 1); }  // the first time round it is
    __device__ uint64_t *producer_expect(int n, unsigned bytes)  // the mbarrier that the copy is to tell
    {
        mbarrier_arrive_expect(&full[stage(n)], bytes);
        return &full[stage(n)];
    }
    __device__ void producer_arrive(int n) { mbarrier_arrive(&full[stage(n)]); }  // a thread that has written its part itself
    __device__ void consumer_wait(int n) { mbarrier_wait(&full[stage(n)], parity(n)); }
    __device__ void consumer_release(int n) { mbarrier_arrive(&empty[stage(n)]); }
    __device__ void warpgroup_release(int n) { warpgroup_arrive(&empty[stage(n)]); }  // of which only tensor cores have read
};

// clang-format on

#endif
