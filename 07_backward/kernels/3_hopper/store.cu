/*
 * Gradients in the inputs' type: like roles, with fewer accesses.
 *
 * The TMA stores dK and dV from the memory of K and V. dQ is summed in float32, as 16-bit sums
 * would be too imprecise; a last kernel rounds it.
 */
#include "06_flash_tiled_cuda/kernels/parts/pipeline.cuh"
#include "06_flash_tiled_cuda/kernels/parts/store.cuh"
#include "07_backward/kernels/parts/roles.cuh"

// clang-format off

/* The TMA stores a warpgroup's 64 rows from its rows of `matrix`. The caller commits. */
template <class T, class TRAITS>
__device__ static inline void store_rows(const fragments<TRAITS> *acc, unsigned char *matrix, const tensor_map *map, float factor,
                                         int j0, int kv)
{
    const float factors[2] = { factor, factor };
    const int warpgroup = (int)warpgroup_number();
    unsigned char *const boxes = matrix + warpgroup * GROUP_ROWS * ROW_BYTES;
#pragma unroll
    for (int b = 0; b < TRAITS::D / BOX_WIDTH; b++)
        fill_box<T>(acc, factors, boxes + b * TRAITS::KEYS * ROW_BYTES, b * BOX_WIDTH / 8);
    fence_async();  // visible to the TMA
    barrier_sync(STORE_BARRIER + warpgroup, 128);
    if (threadIdx.x % 128 == 0)
        for (int b = 0; b < TRAITS::D / BOX_WIDTH; b++)
            tma_store(map, boxes + b * TRAITS::KEYS * ROW_BYTES, b * BOX_WIDTH, j0 + warpgroup * GROUP_ROWS, kv);
}

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    store_tile(struct attention p, struct backward_arrays a, const __grid_constant__ struct backward_maps maps)
{
    extern __shared__ __align__(1024) unsigned char smem_bytes[];
    __shared__ struct roles_block block;
    roles_smem<TRAITS> &smem = *(roles_smem<TRAITS> *)smem_bytes;
    const int j0 = (int)blockIdx.x * TRAITS::KEYS, kv = (int)blockIdx.y;
    block_with_roles<T>(p, a, maps, smem, block, j0, kv, no_turns(), [&](const fragments<TRAITS> *dK, const fragments<TRAITS> *dV) {
        store_rows<T>(dV, smem.V, &maps.dV, 1.0f, j0, kv);  // no other warpgroup reads these rows of V
        barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);   // the other's dQ has read K
        store_rows<T>(dK, smem.K, &maps.dK, p.scale, j0, kv);
        if (threadIdx.x % 128 == 0) {
            bulk_commit();
            bulk_wait_read<0>();  // before the block exits
        }
    });
}

// clang-format on

enum { ROUNDING_THREADS = 256, ROUNDING_WIDTH = 8 };

/* n is a multiple of 8. */
template <class T> static __global__ void round_dQ(const float *sums, uint16_t *dQ, size_t n)
{
    const size_t k = ((size_t)blockIdx.x * ROUNDING_THREADS + threadIdx.x) * ROUNDING_WIDTH;
    if (k >= n)
        return;
    const float4 x = *(const float4 *)&sums[k], y = *(const float4 *)&sums[k + 4];
    *(uint4 *)&dQ[k] =
        make_uint4(pack<T>(x.x, x.y), pack<T>(x.z, x.w), pack<T>(y.x, y.y), pack<T>(y.z, y.w));
}

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    typedef key_traits<HEAD_DIM, HOPPER_QUERIES(HEAD_DIM), HOPPER_M_TILES, HOPPER_WARPS> shape;
    const dim3 grid(ceil_div(p->Nk, shape::KEYS), (unsigned)(p->B * p->Hkv));
    const size_t bytes = sizeof(roles_smem<shape>), n = p->B * p->H * p->Nq * p->d;
    const unsigned blocks = ceil_div(n, ROUNDING_THREADS * ROUNDING_WIDTH);
    allow_shared<store_tile<T, shape>>(bytes);
    struct backward_maps maps = make_backward_maps<T, shape>(p, a);
    make_map<T>(&maps.dK, a->dK16, p->B * p->Hkv, p->Nk, p->d, GROUP_ROWS);
    make_map<T>(&maps.dV, a->dV16, p->B * p->Hkv, p->Nk, p->d, GROUP_ROWS);
    store_tile<T, shape><<<grid, shape::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
    round_dQ<T><<<blocks, ROUNDING_THREADS, 0, stream>>>(a->dQ, a->dQ16, n);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_store)(const struct attention *p, const struct backward_arrays *a,
                                         cudaStream_t stream)
{
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, dQ_bytes(p), stream));  // 3
    LAUNCHER(backward_D)(p, a, stream);                          // 4
    TENSOR_LAUNCH(launch, p, a, stream);
}
