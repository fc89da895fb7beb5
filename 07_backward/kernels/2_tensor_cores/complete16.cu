/*
 * Every option but --softcap, in 16 bits.        mma_split's accesses, without skipped tiles
 *
 * mma_split with the masks and dropout of attention.h. With d = 256 two blocks share keys, each
 * with half of dK's and dV's elements.
 */
#include "07_backward/kernels/parts/pairs16.cuh"

enum { STAGES = 2 };

struct block_of_keys {
    int b, h;  // h: first query head
    int j0, j1;
    int head_tiles, group_tiles;  // tiles of queries: per head, per key/value head
};

template <class TRAITS>
__device__ static inline struct block_of_keys block_of_keys_of(const struct attention &p)
{
    const int head = (int)blockIdx.y, Hkv = (int)p.Hkv, group = (int)p.H / Hkv;
    struct block_of_keys t = {};
    t.b = head / Hkv;
    t.h = head % Hkv * group;
    t.j0 = (int)blockIdx.x * TRAITS::KEYS;
    t.j1 = min(t.j0 + TRAITS::KEYS, (int)p.Nk);
    t.head_tiles = (int)ceil_div(p.Nq, TRAITS::QUERIES);
    t.group_tiles = group * t.head_tiles;
    return t;
}

/* `partial`: needs masks. Rows past Nk need none, as they are not stored. */
struct query_tile {
    int index;
    bool partial;
};

/* The first >= index that is not skipped, or group_tiles. */
template <class TRAITS>
__device__ static inline struct query_tile next_query_tile(const struct attention &p,
                                                           const struct block_of_keys &t, int index)
{
    enum { Br = TRAITS::QUERIES };
    for (; index < t.group_tiles; index++) {
        const int i0 = index % t.head_tiles * Br, i1 = min(i0 + Br, (int)p.Nq);
        const enum tile_kind kind = tile_kind(&p, (size_t)t.b, (size_t)(t.h + index / t.head_tiles),
                                              (size_t)i0, (size_t)i1, (size_t)t.j0, (size_t)t.j1);
        if (kind != TILE_SKIPPED)
            return { index, kind == TILE_PARTIAL || i1 - i0 < Br };
    }
    return { index, false };
}

/* Past the last tile, copies only zeros for lse and D. */
template <class T, class TRAITS, class LAYOUT>
__device__ static inline void
copy_query_tile(uint4 *V, float *statistics, int iteration, const struct attention &p,
                const struct backward_arrays &a, const struct block_of_keys &t, int index)
{
    enum { Br = TRAITS::QUERIES };
    const bool valid = index < t.group_tiles;
    const int n = valid ? index % t.head_tiles : t.head_tiles, Nq = (int)p.Nq;
    const size_t head = (size_t)t.b * p.H + (size_t)(valid ? t.h + index / t.head_tiles : 0);
    const size_t row = head * p.Nq;
    copy_statistics<TRAITS>(statistics + iteration % STAGES * 2 * Br, a.lse + row, a.D + row,
                            n * Br, Br, Nq);
    copy_keys<TRAITS, STAGES, LAYOUT>(V, iteration, (const T *)a.Q16 + row * TRAITS::D,
                                      (const T *)a.dO16 + row * TRAITS::D, n, Nq);
}

/*
 * All elements of dK and dV, or half. Swizzling changes only the last three bits of a chunk's
 * number, so chunk c of the second half is chunk 16 + c.
 */
template <class TRAITS> struct part_of_columns : TRAITS {
    enum { D = TRAITS::D / KEYS_PARTS(TRAITS::D), is_whole = (int)D == (int)TRAITS::D };
};

/* A B^T over whole rows, part by part. */
template <class T, class TRAITS>
__device__ static inline void scores_of_rows(fragments<part_of_columns<TRAITS>> *acc,
                                             const uint4 *A, const uint4 *B)
{
    typedef part_of_columns<TRAITS> part;
    tensor_scores<T, swizzled_rows<TRAITS>>(acc, A, B);
    for (int c = part::D / CHUNK; c < TRAITS::ROW; c += part::D / CHUNK) {
        fragments<part> more;
        tensor_scores<T, swizzled_rows<TRAITS>>(&more, A + c, B + c);
        for (int n = 0; n < TRAITS::BC / 8; n++)
            for (int e = 0; e < 4; e++)
                acc->S[0][n][e] += more.S[0][n][e];
    }
}

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS, TRAITS::BLOCKS)
    complete16_keys(struct attention p, struct backward_arrays a)
{
    enum { Bc = TRAITS::KEYS, Br = TRAITS::QUERIES, HEAD_DIM = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    typedef part_of_columns<TRAITS> part;
    extern __shared__ uint4 smem[];
    uint4 *const K = smem, *const V = K + Bc * TRAITS::ROW;
    float *const statistics = (float *)(V + (Bc + 2 * STAGES * Br) * TRAITS::ROW);
    const struct block_of_keys t = block_of_keys_of<TRAITS>(p);
    const int Nk = (int)p.Nk;
    const size_t first = (blockIdx.y * p.Nk + (size_t)t.j0) * HEAD_DIM;
    const int first_element = part::is_whole ? 0 : (int)blockIdx.z * part::D;
    const float factor = (float)(1.0 / (1.0 - p.dropout));
    struct query_tile query_tile = next_query_tile<TRAITS>(p, t, 0);
    fragments<part> dK, dV;
    copy_tile<TRAITS, rows>(K, (const T *)a.K16 + first, Bc, Nk - t.j0);
    copy_tile<TRAITS, rows>(V, (const T *)a.V16 + first, Bc, Nk - t.j0);
    copy_query_tile<T, TRAITS, rows>(V, statistics, 0, p, a, t, query_tile.index);
    begin(&dK);
    begin(&dV);
    for (int iteration = 0; query_tile.index < t.group_tiles; iteration++) {
        const struct query_tile next = next_query_tile<TRAITS>(p, t, query_tile.index + 1);
        const struct tile_of_pairs tile = { t.b, t.h + query_tile.index / t.head_tiles, t.j0,
                                            query_tile.index % t.head_tiles * Br };
        uint4 *const Q = stage_of<TRAITS, STAGES>(V, iteration), *const dO = Q + Br * TRAITS::ROW;
        const float *const lse = statistics + iteration % STAGES * 2 * Br, *const D_i = lse + Br;
        cp_async_wait<0>();
        if (query_tile.partial)
            zero_empty_queries<TRAITS, rows>(Q, dO, p, tile, t.j1);
        __syncthreads();
        copy_query_tile<T, TRAITS, rows>(V, statistics, iteration + 1, p, a, t, next.index);
        scores_of_rows<T, TRAITS>(&dV, K, Q);
        weights_by_columns(&dV, p.scale, lse);
        if (query_tile.partial)
            zero_outside_band<ROWS_ARE_KEYS>(&dV, p, tile, (int)p.Nq);
        if (query_tile.partial && (p.key_mask || p.block_mask))
            zero_invisible<ROWS_ARE_KEYS>(&dV, p, tile);
        kept_pairs<part> kept = {};
        if (p.dropout_threshold > 0)
            draw_dropout<ROWS_ARE_KEYS>(&kept, p, tile);
        scores_of_rows<T, TRAITS>(&dK, V, dO);
        if (p.dropout_threshold > 0)
            drop_pairs(&dK, kept, factor);
        dS_of_keys(&dK, dV, D_i);  // with weights before dropout
        if (p.dropout_threshold > 0)
            drop_pairs(&dV, kept, 1.0f);  // with weights after it
        tensor_product<T, rows>(&dV, dO + first_element / CHUNK);
        tensor_product<T, rows>(&dK, Q + first_element / CHUNK);
        query_tile = next;
    }
    cp_async_wait<0>();
    store_gradient(&dK, a.dK + first + first_element, Nk - t.j0, p.scale);
    store_gradient(&dV, a.dV + first + first_element, Nk - t.j0, factor);
}

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS, TRAITS::BLOCKS)
    complete16_queries(struct attention p, struct backward_arrays a)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, HEAD_DIM = TRAITS::D };
    typedef swizzled_rows<TRAITS> rows;
    extern __shared__ uint4 smem[];
    uint4 *const Q = smem, *const dO = Q + Br * TRAITS::ROW;
    float *const lse = (float *)(dO + (Br + 2 * STAGES * Bc) * TRAITS::ROW), *const D_i = lse + Br;
    const backward_head<T> head = backward_head_of<T>(p, a, blockIdx.y);
    const int i0 = (int)blockIdx.x * Br, Nq = (int)p.Nq, Nk = (int)p.Nk;
    const struct tile_of_queries t = { blockIdx.y / p.H, blockIdx.y % p.H, (size_t)i0,
                                       (size_t)min(i0 + Br, Nq) };
    const float factor = (float)(1.0 / (1.0 - p.dropout));
    fragments<TRAITS> P, dQ;
    int n = next_tile<Bc>(p, t, 0);
    copy_tile<TRAITS, rows>(Q, head.Q + (size_t)i0 * HEAD_DIM, Br, Nq - i0);
    copy_tile<TRAITS, rows>(dO, head.dO + (size_t)i0 * HEAD_DIM, Br, Nq - i0);
    copy_statistics<TRAITS>(lse, head.lse, head.D, i0, Br, Nq);
    copy_keys<TRAITS, STAGES, rows>(dO, 0, head.K, head.V, n, Nk);
    begin(&dQ);
    for (int iteration = 0; n * Bc < Nk; iteration++) {
        const int j0 = n * Bc, next = next_tile<Bc>(p, t, n + 1);
        const struct tile_of_pairs tile = { (int)t.b, (int)t.h, i0, j0 };
        uint4 *const K = stage_of<TRAITS, STAGES>(dO, iteration), *const V = K + Bc * TRAITS::ROW;
        const bool partial = j0 + Bc > Nk || kind_of(p, t, j0, min(j0 + Bc, Nk)) == TILE_PARTIAL;
        cp_async_wait<0>();
        if (partial)
            zero_values<TRAITS, rows>(K, p, t, j0);  // as chapter 06 does V
        __syncthreads();
        copy_keys<TRAITS, STAGES, rows>(dO, iteration + 1, head.K, head.V, next, Nk);
        tensor_scores<T, rows>(&P, Q, K);
        weights_by_rows(&P, p.scale, lse);
        if (partial)
            zero_outside_band<ROWS_ARE_QUERIES>(&P, p, tile, Nk);
        if (partial && (p.key_mask || p.block_mask))
            zero_invisible<ROWS_ARE_QUERIES>(&P, p, tile);
        kept_pairs<TRAITS> kept = {};
        if (p.dropout_threshold > 0)
            draw_dropout<ROWS_ARE_QUERIES>(&kept, p, tile);
        tensor_scores<T, rows>(&dQ, dO, V);
        if (p.dropout_threshold > 0)
            drop_pairs(&dQ, kept, factor);
        dS_of_queries(&dQ, P, D_i);
        tensor_product<T, rows>(&dQ, K);
        n = next;
    }
    cp_async_wait<0>();
    store_gradient(&dQ, head.dQ + (size_t)i0 * HEAD_DIM, Nq - i0, p.scale);
}

template <class TRAITS> constexpr size_t bytes_with_statistics(int queries)
{
    return pipeline_bytes<TRAITS, STAGES>() + (size_t)TRAITS::BR * TRAITS::D * 2 +
           2 * (size_t)queries * sizeof(float);
}

template <class T, int HEAD_DIM>
static void launch(const struct attention *p, const struct backward_arrays *a, cudaStream_t stream)
{
    typedef key_traits<HEAD_DIM, KEYS_BR(HEAD_DIM), 1, KEYS_BC(HEAD_DIM) / 16> keys;
    typedef kernel_traits<HEAD_DIM, QUERIES_BC(HEAD_DIM), 1, QUERIES_BR(HEAD_DIM) / 16> queries;
    const size_t of_keys = bytes_with_statistics<keys>(STAGES * keys::QUERIES);
    const size_t of_queries = bytes_with_statistics<queries>(queries::BR);
    allow_shared<complete16_keys<T, keys>>(of_keys);
    allow_shared<complete16_queries<T, queries>>(of_queries);
    const dim3 key_blocks(ceil_div(p->Nk, keys::KEYS), (unsigned)(p->B * p->Hkv),
                          KEYS_PARTS(HEAD_DIM));
    const dim3 query_blocks(ceil_div(p->Nq, queries::BR), (unsigned)(p->B * p->H));
    complete16_keys<T, keys><<<key_blocks, keys::THREADS, of_keys, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
    complete16_queries<T, queries><<<query_blocks, queries::THREADS, of_queries, stream>>>(*p, *a);
    CHECK_CUDA(cudaGetLastError());
}

template <class T>
static void launch_d(const struct attention *p, const struct backward_arrays *a,
                     cudaStream_t stream)
{
    if (p->d == 32)
        launch<T, 32>(p, a, stream);
    else if (p->d == 64)
        launch<T, 64>(p, a, stream);
    else if (p->d == 96)
        launch<T, 96>(p, a, stream);
    else if (p->d == 128)
        launch<T, 128>(p, a, stream);
    else if (p->d == 256)
        launch<T, 256>(p, a, stream);
    else
        not_compiled("backward_complete16", "d = %zu", p->d);
}

extern "C" backward_launcher LAUNCHER(backward_complete16);

extern "C" void LAUNCHER(backward_complete16)(const struct attention *p,
                                              const struct backward_arrays *a, cudaStream_t stream)
{
    LAUNCHER(backward_D)(p, a, stream);
    if (p->dtype == DTYPE_BF16)
        launch_d<__nv_bfloat16>(p, a, stream);
    else
        launch_d<__half>(p, a, stream);
}
