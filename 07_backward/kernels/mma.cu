/*
 * Five products on tensor cores: recompute again.    2 Nq d + 3 Nk d + Nq + Tc (3 Nq d + 2 Nq) accesses of 4 bytes
 *
 * mma_split makes S and dP twice. One kernel makes them once, and then dQ has to be made where rows are keys. dQ = dS K sums
 * over keys, and those are spread over the lanes and the warps: so here dS goes through shared memory. A warp stores its
 * dS^T as it lies, and reads all keys' of it transposed, as mma's first factor: for all queries of the tile and 16 of the
 * d elements. What it gets is added to dQ atomically, as in recompute.
 *
 * dO has room for one tile, not two: when dS is there nobody needs the old one, and the next may come.
 *
 * Dao, "FlashAttention-2", arXiv 2307.08691, Algorithm 2, whose line numbers stand at the right.
 */
#include "tensor.cuh"

// clang-format off

/* dS^T in shared memory: a row of it is a key's, with the tile's queries. */
template <class SHAPE> struct rows_of_dS : swizzled_rows<tensor_shape<SHAPE::BC>> {};

template <class T, class SHAPE>
__device__ static inline void share_dS(uint4 *dS, const fragments<SHAPE> &me)
{
    typedef rows_of_dS<SHAPE> rows;
#pragma unroll
    for (int c = 0; c < SHAPE::BC / 8; c++) {
        // the order of pieces is the same 8 rows on, so the others are at a known distance from this one
        uint4 *const first = &dS[rows::piece(tensor_row<SHAPE>(0, 0), c)];
        for (int x = 0; x < SHAPE::BANDS; x++)
            for (int h = 0; h < 2; h++)
                ((unsigned *)(first + rows::piece(16 * x + 8 * h, 0)))[tensor_column() / 2] =
                    pack<T>(me.S[x][c][2 * h], me.S[x][c][2 * h + 1]);
    }
}

/* Of two keys of a register, those from number `end` on become 0: they may hold NaN, and 0 times NaN is NaN. */
__device__ static inline unsigned without_keys(unsigned two, int first, int end)
{
    return two & ((first < end ? 0xffffu : 0u) | (first + 1 < end ? 0xffff0000u : 0u));
}

/* dQ += scale dS K, by all warps, for the queries that begin at `to`. The tile's queries see the first `keys` keys. */
template <class T, class SHAPE, class ROWS>
__device__ static inline void add_to_queries(float *to, int queries, const uint4 *dS, const uint4 *K, int keys,
                                             float scale)
{
    enum { BANDS = SHAPE::BC / 16 };
    static_assert((int)SHAPE::D == 16 * SHAPE::WARPS, "a warp has 16 elements");
    const int lane = lane_of_warp(), warp = (int)threadIdx.x / 32;
    float dQ[BANDS][2][4] = {};
#pragma unroll 2
    for (int k = 0; 16 * k < keys; k++) {
        // BEGIN SOLUTION
        unsigned A[BANDS][4], B[4];
        for (int x = 0; x < BANDS; x++)
            ldmatrix_trans(A[x], &dS[rows_of_dS<SHAPE>::piece(16 * k + lane / 16 * 8 + lane % 8, 2 * x + lane / 8 % 2)]);
        ldmatrix_trans(B, &K[ROWS::piece(16 * k + lane % 16, 2 * warp + lane / 16)]);
        if (16 * (k + 1) > keys)
            for (int r = 0; r < 4; r++)
                B[r] = without_keys(B[r], 16 * k + r % 2 * 8 + tensor_column(), keys);
        for (int x = 0; x < BANDS; x++) {
            mma<T>(dQ[x][0], A[x], B);
            mma<T>(dQ[x][1], A[x], B + 2);
        }
        // END SOLUTION
        // STUB: (void)dS, (void)K, (void)lane, (void)warp, (void)k, (void)without_keys;
    }
#pragma unroll
    for (int x = 0; x < BANDS; x++)
        for (int c = 0; c < 2; c++)
            for (int e = 0; e < 4; e++) {
                const int i = 16 * x + e / 2 * 8 + lane / 4, column = 16 * warp + 8 * c + tensor_column() + e % 2;
                if (i < queries)
                    atomicAdd(&to[i * SHAPE::D + column], scale * dQ[x][c][e]);
            }
}

/* Q, L and D of tile n are on their way, if there is one. */
template <class SHAPE, class ROWS, class T>
__device__ static inline void copy_queries(uint4 *Q, float *L, const backward_head<T> &t, int n, int Nq)
{
    const int i0 = n * SHAPE::BC;
    if (i0 >= Nq)
        return;
    copy_tile<SHAPE, ROWS>(Q, t.Q + (size_t)i0 * SHAPE::D, SHAPE::BC, Nq - i0);
    copy_statistics<SHAPE>(L, t.lse, t.D, i0, SHAPE::BC, Nq);
}

template <class SHAPE, class ROWS, class T>
__device__ static inline void copy_dO(uint4 *dO, const backward_head<T> &t, int n, int Nq)
{
    const int i0 = n * SHAPE::BC;
    if (i0 < Nq)
        copy_tile<SHAPE, ROWS>(dO, t.dO + (size_t)i0 * SHAPE::D, SHAPE::BC, Nq - i0);
}

template <class T, class SHAPE>
static __global__ void __launch_bounds__(SHAPE::THREADS)
    mma_tile(struct attention p, struct backward_arrays a)
{
    enum { Bc = SHAPE::BR, Br = SHAPE::BC, D = SHAPE::D, TILE = Br * SHAPE::ROW };
    typedef swizzled_rows<SHAPE> rows;
    extern __shared__ uint4 fast[];
    uint4 *const K = fast, *const V = K + Bc * SHAPE::ROW, *const dO = V + Bc * SHAPE::ROW;
    uint4 *const two_Q = dO + TILE, *const dS = two_Q + 2 * TILE;
    float *const two_L = (float *)(dS + Bc * Br / PIECE);   // behind a tile's L its D
    const backward_head<T> t = backward_head_of<T>(p, a, blockIdx.y);
    const int j0 = (int)blockIdx.x * Bc, Nq = (int)p.Nq, Nk = keys_seen(p, Nq - 1);
    int n = first_tile<Br>(p, j0);
    fragments<SHAPE> dK, dV;
    copy_tile<SHAPE, rows>(K, t.K + (size_t)j0 * D, Bc, Nk - j0);            // 6
    copy_tile<SHAPE, rows>(V, t.V + (size_t)j0 * D, Bc, Nk - j0);
    copy_queries<SHAPE, rows>(two_Q + n % 2 * TILE, two_L + n % 2 * 2 * Br, t, n, Nq);
    copy_dO<SHAPE, rows>(dO, t, n, Nq);
    cp_async_commit();
    begin(&dK);                                                              // 7
    begin(&dV);
    for (; n * Br < Nq; n++) {                                               // 8
        const uint4 *const Q = two_Q + n % 2 * TILE;
        const float *const L = two_L + n % 2 * 2 * Br, *const D_i = L + Br;
        const int i0 = n * Br, last = smaller(i0 + Br, Nq) - 1;
        cp_async_wait<0>();           // what this thread copied of tile n is there …
        __syncthreads();              // … and all of it; and nobody reads tile n - 1 any more, nor its dS
        copy_queries<SHAPE, rows>(two_Q + (n + 1) % 2 * TILE, two_L + (n + 1) % 2 * 2 * Br, t, n + 1, Nq);  // 9
        cp_async_commit();
        tensor_scores<T, rows>(&dV, K, Q);                                   // 10
        weights_of_keys(&dV, p, L, j0, i0);                                  // 11
        tensor_product<T, rows>(&dV, dO);                                    // 12
        tensor_scores<T, rows>(&dK, V, dO);                                  // 13
        dS_of_keys(&dK, dV, D_i);                                            // 14
        share_dS<T>(dS, dK);
        tensor_product<T, rows>(&dK, Q);                                     // 16
        __syncthreads();              // dS is there, and nobody reads dO any more
        copy_dO<SHAPE, rows>(dO, t, n + 1, Nq);                              // 9
        cp_async_commit();
        add_to_queries<T, SHAPE, rows>(t.dQ + (size_t)i0 * D, last - i0 + 1, dS, K,
                                       smaller(Bc, keys_seen(p, last) - j0), p.scale);  // 15
    }
    cp_async_wait<0>();  // where no query sees a key, K and V are still on their way
    store_gradient(&dK, t.dK + (size_t)j0 * D, (int)p.Nk - j0, p.scale);     // 18
    store_gradient(&dV, t.dV + (size_t)j0 * D, (int)p.Nk - j0, 1.0f);
}

// clang-format on

template <class T, int D>
static void launch(const struct attention *p, const struct backward_arrays *a)
{
    typedef tensor_shape<D, KEYS_BR(D), KEYS_BANDS(D), KEYS_BC(D) / 16 / KEYS_BANDS(D)> shape;
    const dim3 grid(pieces(p->Nk, shape::BR), (unsigned)(p->B * p->H));
    const size_t rows = (2 * shape::BR + 3 * shape::BC) * D + shape::BR * shape::BC;
    const size_t bytes = rows * sizeof(T) + 4 * shape::BC * sizeof(float);
    CHECK_CUDA(cudaFuncSetAttribute(mma_tile<T, shape>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)bytes));
    mma_tile<T, shape><<<grid, shape::THREADS, bytes>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

extern "C" void LAUNCHER(backward_mma)(const struct attention *p, const struct backward_arrays *a)
{
    CHECK_CUDA(cudaMemsetAsync(a->dQ, 0, p->B * p->H * p->Nq * p->d * sizeof *a->dQ));  // line 3
    LAUNCHER(backward_D)(p, a);                                                         // 4
    TENSOR_LAUNCH(launch, p, a);
}
