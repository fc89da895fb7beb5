/*
 * A block for each multiprocessor, which takes one tile of queries after another.
 *
 * Before, each tile had a block of its own; now a block stays. Its producer takes the number of the next tile from a counter
 * in global memory, works out which tile that is, tells the consumers, and loads its Q and its keys as soon as there is
 * room. Consumers release Q with the last keys. So the next Q and keys are loaded while they still compute the last weights
 * of the tile before, multiply them, and write its O. Stages and phases continue from one tile to the next. All this is in
 * parts/persistent.cuh; here is how a block begins, and how it writes O.
 *
 * A counter and the longest first: also in FlashAttention-3's code, github.com/Dao-AILab/flash-attention,
 * hopper/tile_scheduler.hpp.
 */
#include "06_flash_tiled_cuda/kernels/parts/persistent.cuh"

// 128 threads with few registers and 256 with many have no more of them than 384 with 168.
enum { FEW = 24, MANY = 240 };

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    persistent_tiles(struct attention p, struct device_arrays a,
                     const __grid_constant__ struct tile_maps maps)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ struct persistent_block block;
    begin_block<TRAITS>(&block);
    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<FEW>();
        if (one_of_warp(TRAITS::THREADS / 32))
            produce<TRAITS>(p, a.next, maps, smem, &block);
        return;
    }
    setmaxnreg_inc<MANY>();
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
    const unsigned blocks = blocks_that_stay(p, shape::BR);
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
