/*
 * Five products on tensor cores.    Nq d + 3 Nk d + Nq + Tc (3 Nq d + 2 Nq) accesses of 4 bytes
 *
 * Like recompute, with mma. dQ = dS K sums over keys, spread over warps, so each warp stores dS^T
 * in shared memory, and adds 16 of the d elements to dQ atomically (COMPILED_FOR_90: in fours),
 * one tile later.
 *
 * Margin: FlashAttention-2, Algorithm 2.
 */
#include "07_backward/kernels/parts/tensor.cuh"

// clang-format off

enum { STAGES = 2 };

template <class TRAITS> struct rows_of_dS : swizzled_rows<kernel_traits<TRAITS::QUERIES>> {};

template <class T, class TRAITS>
__device__ static inline void share_dS(uint4 *dS, const fragments<TRAITS> &acc)
{
    typedef rows_of_dS<TRAITS> rows;
#pragma unroll
    for (int c = 0; c < TRAITS::BC / 8; c++) {
        uint4 *const first = &dS[rows::at(tensor_row<TRAITS>(0, 0), c)];
        for (int x = 0; x < TRAITS::M_TILES; x++)
            for (int h = 0; h < 2; h++)
                ((unsigned *)(first + rows::at(16 * x + 8 * h, 0)))[tensor_column() / 2] =
                    pack<T>(acc.S[x][c][2 * h], acc.S[x][c][2 * h + 1]);
    }
}

/* Zeroes keys >= `end`, which may be NaN. */
__device__ static inline unsigned without_keys(unsigned two, int first, int end)
{
    return two & ((first < end ? 0xffffu : 0u) | (first + 1 < end ? 0xffff0000u : 0u));
}

/*
 * A lane has two of every 8 elements of a row of dQ; lanes t and t xor 1 exchange pairs, so each
 * has four adjacent ones.
 */
__device__ static inline float4 four_adjacent(float2 first, float2 other)
{
    const bool odd = threadIdx.x % 2 == 1;
    const float2 keep = odd ? other : first, give = odd ? first : other;
    const float2 get = make_float2(__shfl_xor_sync(WHOLE_WARP, give.x, 1), __shfl_xor_sync(WHOLE_WARP, give.y, 1));
    return odd ? make_float4(get.x, get.y, keep.x, keep.y) : make_float4(keep.x, keep.y, get.x, get.y);
}

/* Adds scale dS K to `queries` rows, which attend only to the tile's first `keys` keys. */
template <class T, class TRAITS, class LAYOUT>
__device__ static inline void add_to_queries(float *to, int queries, const uint4 *dS, const uint4 *K, int keys,
                                             float scale)
{
    enum { M_TILES = TRAITS::QUERIES / 16, ROW_OF_DS = TRAITS::QUERIES / CHUNK };
    static_assert((int)TRAITS::D == 16 * TRAITS::WARPS, "a warp has 16 elements");
    const int lane = lane_id(), element = (int)threadIdx.x / 32 * 16;
    float dQ[M_TILES][2][4] = {};
#pragma unroll 4
    for (int k = 0; 16 * k < keys; k++) {
        // BEGIN SOLUTION
        unsigned A[M_TILES][4], B[4];
        for (int x = 0; x < M_TILES; x++)
            ldmatrix_trans(A[x], &dS[rows_of_dS<TRAITS>::at(lane / 16 * 8 + lane % 8, 2 * x + lane / 8 % 2) +
                                     16 * k * ROW_OF_DS]);
        ldmatrix_trans(B, &K[LAYOUT::at(lane % 16, element / CHUNK + lane / 16) + 16 * k * TRAITS::ROW]);
        if (16 * (k + 1) > keys)
            for (int r = 0; r < 4; r++)
                B[r] = without_keys(B[r], 16 * k + r % 2 * 8 + tensor_column(), keys);
        for (int x = 0; x < M_TILES; x++) {
            mma<T>(dQ[x][0], A[x], B);
            mma<T>(dQ[x][1], A[x], B + 2);
        }
        // END SOLUTION
        // STUB: (void)dS, (void)K, (void)lane, (void)element, (void)k, (void)without_keys;
    }
    const int row = lane / 4;
    float *const first = to + row * TRAITS::D + element + lane % 2 * 8 + lane % 4 / 2 * 4;
#pragma unroll
    for (int x = 0; x < M_TILES; x++)
        for (int h = 0; h < 2; h++) {
            const float *const one = &dQ[x][0][2 * h], *const two = &dQ[x][1][2 * h];
            const float4 four = four_adjacent(make_float2(scale * one[0], scale * one[1]),
                                              make_float2(scale * two[0], scale * two[1]));
            if (row + 16 * x + 8 * h < queries)
                add_four(first + (16 * x + 8 * h) * TRAITS::D, four);
        }
}

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS)
    mma_tile(struct attention p, struct backward_arrays a)
{
    enum { Bc = TRAITS::KEYS, Br = TRAITS::QUERIES, HEAD_DIM = TRAITS::D, DS = Bc * Br / CHUNK };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    uint4 *const K = smem, *const V = K + Bc * TRAITS::ROW;
    uint4 *const dS_stages = V + (Bc + 2 * STAGES * Br) * TRAITS::ROW;
    float *const statistics = (float *)(dS_stages + 2 * DS);                 // lse, D, lse, D
    const backward_head<T> t = backward_head_of<T>(p, a, blockIdx.y);
    const int j0 = (int)blockIdx.x * Bc, Nq = (int)p.Nq, attended = keys_attended(p, Nq - 1);
    const int first = first_tile<Br>(p, j0);
    int n = first;
    const auto add_dQ_of = [&](int tile) {
        const int i0 = tile * Br, queries = min(Br, Nq - i0);
        const int keys = min(Bc, keys_attended(p, i0 + queries - 1) - j0);
        const uint4 *const dS = dS_stages + tile % 2 * DS;
        add_to_queries<T, TRAITS, rows>(t.dQ + (size_t)i0 * HEAD_DIM, queries, dS, K, keys, p.scale);
    };
    fragments<TRAITS> dK, dV;
    copy_tile<TRAITS, rows>(K, t.K + (size_t)j0 * HEAD_DIM, Bc, attended - j0);  // 6
    copy_tile<TRAITS, rows>(V, t.V + (size_t)j0 * HEAD_DIM, Bc, attended - j0);
    copy_statistics<TRAITS>(statistics + n % STAGES * 2 * Br, t.lse, t.D, n * Br, Br, Nq);
    copy_keys<TRAITS, STAGES, rows>(V, n, t.Q, t.dO, n, Nq);                 // 9
    begin(&dK);                                                              // 7
    begin(&dV);
    for (; n * Br < Nq; n++) {                                               // 8
        cp_async_wait<0>();
        __syncthreads();              // tile n and dS of n - 1 are complete
        copy_statistics<TRAITS>(statistics + (n + 1) % STAGES * 2 * Br, t.lse, t.D, (n + 1) * Br, Br, Nq);
        copy_keys<TRAITS, STAGES, rows>(V, n + 1, t.Q, t.dO, n + 1, Nq);     // 9
        if (n > first)
            add_dQ_of(n - 1);                                                // 15
        const uint4 *const Q = stage_of<TRAITS, STAGES>(V, n), *const dO = Q + Br * TRAITS::ROW;
        const float *const lse = statistics + n % STAGES * 2 * Br, *const D_i = lse + Br;
        tensor_scores<T, rows>(&dV, K, Q);                                   // 10
        weights_of_keys(&dV, p, lse, j0, n * Br);                            // 11
        tensor_product<T, rows>(&dV, dO);                                    // 12
        tensor_scores<T, rows>(&dK, V, dO);                                  // 13
        dS_of_keys(&dK, dV, D_i);                                            // 14
        share_dS<T>(dS_stages + n % 2 * DS, dK);
        tensor_product<T, rows>(&dK, Q);                                     // 16
    }
    cp_async_wait<0>();
    __syncthreads();     // dS of the last tile is complete
    if (n > first)
        add_dQ_of(n - 1);                                                    // 15
    store_gradient(&dK, t.dK + (size_t)j0 * HEAD_DIM, (int)p.Nk - j0, p.scale);  // 18
    store_gradient(&dV, t.dV + (size_t)j0 * HEAD_DIM, (int)p.Nk - j0, 1.0f);
}

// clang-format on

template <class TRAITS> constexpr size_t bytes_of(void)
{
    return pipeline_bytes<TRAITS, STAGES>() + (size_t)TRAITS::KEYS * TRAITS::D * 2 +
           2 * ((size_t)TRAITS::KEYS * TRAITS::QUERIES * 2 +
                2 * (size_t)TRAITS::QUERIES * sizeof(float));
}

template <class T, class TRAITS>
static void launch_tile(const struct attention *p, const struct backward_arrays *a,
                        cudaStream_t stream)
{
    const dim3 grid(ceil_div(p->Nk, TRAITS::KEYS), (unsigned)(p->B * p->H));
    const size_t bytes = bytes_of<TRAITS>();
    allow_shared<mma_tile<T, TRAITS>>(bytes);
    mma_tile<T, TRAITS><<<grid, TRAITS::THREADS, bytes, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    enum { M_TILES = KEYS_M_TILES(HEAD_DIM), WARPS = KEYS_BC(HEAD_DIM) / 16 / M_TILES };
    typedef key_traits<HEAD_DIM, MMA_BR(HEAD_DIM), M_TILES, WARPS> large;
    typedef key_traits<HEAD_DIM, MMA_SMALL_BR(HEAD_DIM), M_TILES, WARPS> small;
    int max_shared = 0, device = current_device();
    CHECK_CUDA(
        cudaDeviceGetAttribute(&max_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes_of<large>() <= (size_t)max_shared)
        launch_tile<T, large>(p, a, stream);
    else
        launch_tile<T, small>(p, a, stream);
}

extern "C" void LAUNCHER(backward_mma)(const struct attention *p, const struct backward_arrays *a,
                                       cudaStream_t stream)
{
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, dQ_bytes(p), stream));  // 3
    LAUNCHER(backward_D)(p, a, stream);                          // 4
    TENSOR_LAUNCH(launch, p, a, stream);
}
