/*
 * Warps with roles.                                                       bulk's accesses
 *
 * Two warpgroups multiply; warps of a third load Q and dO, load lse and D, or add dQ.
 * (FlashAttention-3's hopper/flash_bwd_kernel_sm90.h.)
 */
#include "07_backward/kernels/parts/roles.cuh"

// clang-format off

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    roles_tile(struct attention p, struct backward_arrays a, const __grid_constant__ struct backward_maps maps)
{
    extern __shared__ __align__(1024) unsigned char smem_bytes[];
    __shared__ struct roles_block block;
    roles_smem<TRAITS> &smem = *(roles_smem<TRAITS> *)smem_bytes;
    const int j0 = (int)blockIdx.x * TRAITS::KEYS, kv = (int)blockIdx.y;
    const auto epilogue = [&](const fragments<TRAITS> *dK, const fragments<TRAITS> *dV) { store_gradients(p, a, dK, dV, j0, kv); };
    block_with_roles<T>(p, a, maps, smem, block, j0, kv, no_turns(), epilogue);
}

// clang-format on

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    typedef key_traits<HEAD_DIM, HOPPER_QUERIES(HEAD_DIM), HOPPER_M_TILES, HOPPER_WARPS> shape;
    const dim3 grid(ceil_div(p->Nk, shape::KEYS), (unsigned)(p->B * p->Hkv));
    const size_t bytes = sizeof(roles_smem<shape>);
    allow_shared<roles_tile<T, shape>>(bytes);
    const struct backward_maps maps = make_backward_maps<T, shape>(p, a);
    roles_tile<T, shape><<<grid, shape::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_roles)(const struct attention *p, const struct backward_arrays *a,
                                         cudaStream_t stream)
{
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, dQ_bytes(p), stream));  // 3
    LAUNCHER(backward_D)(p, a, stream);                          // 4
    TENSOR_LAUNCH(launch, p, a, stream);
}
