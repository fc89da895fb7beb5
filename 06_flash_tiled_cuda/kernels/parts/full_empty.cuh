/*
 * A pipeline of tiles from producers to consumers. Tile n is in stage s = n % STAGES: phase
 * n / STAGES of full[s] ends when it is loaded, of empty[s] when consumers have released it.
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
    __device__ void producer_acquire(int n) { mbarrier_wait(&empty[stage(n)], parity(n) ^ 1); }  // no wait in the first round
    __device__ uint64_t *producer_expect(int n, unsigned bytes)  // for the copy
    {
        mbarrier_arrive_expect(&full[stage(n)], bytes);
        return &full[stage(n)];
    }
    __device__ void producer_arrive(int n) { mbarrier_arrive(&full[stage(n)]); }  // by threads that write a tile
    __device__ void consumer_wait(int n) { mbarrier_wait(&full[stage(n)], parity(n)); }
    __device__ void consumer_release(int n) { mbarrier_arrive(&empty[stage(n)]); }
    __device__ void warpgroup_release(int n) { warpgroup_arrive(&empty[stage(n)]); }  // if only tensor cores read
};

// clang-format on

#endif
