/*
 * The TMA stores O.                                                      wgmma's accesses
 *
 * Like persistent, with store.cuh.
 */
#include "06_flash_tiled_cuda/kernels/parts/persistent.cuh"
#include "06_flash_tiled_cuda/kernels/parts/store.cuh"

enum { PRODUCER_REGS_2 = 24, CONSUMER_REGS_2 = 240, PRODUCER_REGS_3 = 32, CONSUMER_REGS_3 = 160 };
// the block's registers, with two and three consumers
static_assert(PRODUCER * PRODUCER_REGS_2 + 256 * CONSUMER_REGS_2 <= 384 * 168);
static_assert(PRODUCER * PRODUCER_REGS_3 + 384 * CONSUMER_REGS_3 <= 512 * 128);

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    store_tiles(struct attention p, struct device_arrays a,
                const __grid_constant__ struct tile_maps maps)
{
    enum { CONSUMERS = TRAITS::BR / GROUP_ROWS, BOXES = store_boxes<TRAITS, STAGES>::GROUP_BOXES };
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ struct persistent_block block;
    begin_block<TRAITS>(&block);
    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<CONSUMERS == 2 ? PRODUCER_REGS_2 : PRODUCER_REGS_3>();
        if (one_of_warp(TRAITS::THREADS / 32))
            produce<TRAITS>(p, a.next, maps, smem, &block);
        return;
    }
    setmaxnreg_inc<CONSUMERS == 2 ? CONSUMER_REGS_2 : CONSUMER_REGS_3>();
    consume<T, TRAITS>(p, smem, &block, [&](const fragments<TRAITS> *acc, int head, int i0) {
        unsigned char *const boxes = smem + store_boxes<TRAITS, STAGES>::TILES;
        group_store<T, BOXES>(acc, boxes, &maps.O, a.lse, i0, (int)p.Nq, head);
    });
    wait_boxes_read();  // before the block exits
}

template <class T, class TRAITS>
static void launch_tile(const struct attention *p, const struct device_arrays *a,
                        cudaStream_t stream)
{
    const size_t bytes = store_boxes<TRAITS, STAGES>::BYTES;
    const unsigned blocks = persistent_block_count(p, TRAITS::BR);
    allow_shared<store_tiles<T, TRAITS>>(bytes);
    struct tile_maps maps = make_maps<T, TRAITS>(p, a);
    make_map<T>(&maps.O, a->O16, p->B * p->H, p->Nq, p->d, GROUP_ROWS);
    CHECK_CUDA(cudaMemsetAsync(a->next, 0, sizeof *a->next, stream));
    store_tiles<T, TRAITS><<<blocks, TRAITS::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

template <class T, int D>
static void launch(const struct attention *p, const struct device_arrays *a, cudaStream_t stream)
{
    if (p->causal)
        launch_tile<T, kernel_traits<D, STORE_BC(D, true), 1, STORE_BR(D) / 16>>(p, a, stream);
    else
        launch_tile<T, kernel_traits<D, STORE_BC(D, false), 1, STORE_BR(D) / 16>>(p, a, stream);
}

extern "C" void LAUNCHER(store)(const struct attention *p, const struct device_arrays *a,
                                cudaStream_t stream)
{
    TENSOR_LAUNCH(launch, p, a, stream);
}
