/*
 * One block per multiprocessor takes one tile of queries after another.
 *
 * Its producer loads the next tile's Q and keys while consumers compute this one's.
 * (FlashAttention-3's hopper/tile_scheduler.hpp.)
 */
#include "06_flash_tiled_cuda/kernels/parts/persistent.cuh"

enum { PRODUCER_REGS = 24, CONSUMER_REGS = 240 };
static_assert(PRODUCER * PRODUCER_REGS + 256 * CONSUMER_REGS <= 384 * 168);

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    persistent_tiles(struct attention p, struct device_arrays a,
                     const __grid_constant__ struct tile_maps maps)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ struct persistent_block block;
    begin_block<TRAITS>(&block);
    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<PRODUCER_REGS>();
        if (one_of_warp(TRAITS::THREADS / 32))
            produce<TRAITS>(p, a.next, maps, smem, &block);
        return;
    }
    setmaxnreg_inc<CONSUMER_REGS>();
    consume<T, TRAITS>(p, smem, &block, [&](const fragments<TRAITS> *acc, int head, int i0) {
        const tensor_head<T> t = tensor_head_of<T>(p, a, head);
        group_finish(acc, t.O, t.lse, i0, (int)p.Nq);
    });
}

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    typedef kernel_traits<D, HOPPER_BC, 1, 8> shape;
    const size_t bytes = pipeline_bytes<shape, STAGES>();
    const unsigned blocks = persistent_block_count(p, shape::BR);
    allow_shared<persistent_tiles<T, shape>>(bytes);
    const struct tile_maps maps = make_maps<T, shape>(p, a);
    CHECK_CUDA(cudaMemsetAsync(a->next, 0, sizeof *a->next, stream));
    persistent_tiles<T, shape><<<blocks, shape::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(persistent)(const struct attention *p, const struct device_arrays *a,
                                     cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}
