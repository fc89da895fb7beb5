/*
 * Like roles, but dQ is summed in a fixed order, so it is reproducible.
 *
 * A head's blocks add to a tile of dQ in key order. Each block draws its number when it starts
 * (turns.h); numbers alternate between eight heads, to shorten waits.
 */
#include "07_backward/kernels/parts/roles.cuh"
#include "common/cuda/turns.h"

// clang-format off

static const unsigned HEADS_TOGETHER = 8;

/* A counter per tile of dQ, per_head of them per head; our turn comes at key_tile. */
template <int Br> struct turns_of_block {
    unsigned *counters, per_head, key_tile;
    __device__ unsigned *of(int head, int i0) const { return counters + (unsigned)head * per_head + (unsigned)(i0 / Br); }
    __device__ void wait(int head, int i0) const
    {
        turn_wait(of(head, i0), key_tile);
        fence_async_global();  // make earlier blocks' additions visible
    }
    __device__ void pass(int head, int i0) const
    {
        bulk_wait<0>();        // until added, not just read
        turn_next(of(head, i0));
    }
};

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    ordered_tile(struct attention p, struct backward_arrays a, const __grid_constant__ struct backward_maps maps)
{
    extern __shared__ __align__(1024) unsigned char smem_bytes[];
    __shared__ struct roles_block block;
    __shared__ unsigned number;
    roles_smem<TRAITS> &smem = *(roles_smem<TRAITS> *)smem_bytes;
    if (threadIdx.x == 0)
        number = atomicAdd(a.turns, 1);
    __syncthreads();
    const unsigned first_kv = number / (HEADS_TOGETHER * gridDim.x) * HEADS_TOGETHER, n = number - first_kv * gridDim.x;
    const unsigned heads = gridDim.y - first_kv < HEADS_TOGETHER ? gridDim.y - first_kv : HEADS_TOGETHER;
    const int j0 = (int)(n / heads) * TRAITS::KEYS, kv = (int)(first_kv + n % heads);
    const turns_of_block<TRAITS::QUERIES> turns = { a.turns + 1, ceil_div(p.Nq, TRAITS::QUERIES), n / heads };
    const auto epilogue = [&](const fragments<TRAITS> *dK, const fragments<TRAITS> *dV) { store_gradients(p, a, dK, dV, j0, kv); };
    block_with_roles<T>(p, a, maps, smem, block, j0, kv, turns, epilogue);
}

// clang-format on

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    typedef key_traits<HEAD_DIM, HOPPER_QUERIES(HEAD_DIM), HOPPER_M_TILES, HOPPER_WARPS> shape;
    const dim3 grid(ceil_div(p->Nk, shape::KEYS), (unsigned)(p->B * p->Hkv));
    const size_t bytes = sizeof(roles_smem<shape>);
    allow_shared<ordered_tile<T, shape>>(bytes);
    const struct backward_maps maps = make_backward_maps<T, shape>(p, a);
    ordered_tile<T, shape><<<grid, shape::THREADS + PRODUCER, bytes, stream>>>(*p, *a, maps);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_ordered)(const struct attention *p,
                                           const struct backward_arrays *a, cudaStream_t stream)
{
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, dQ_bytes(p), stream));  // 3
    CHECK_CUDA(cudaMemsetAsync(a->turns, 0, turn_count(p) * sizeof *a->turns, stream));
    LAUNCHER(backward_D)(p, a, stream);  // 4
    TENSOR_LAUNCH(launch, p, a, stream);
}
