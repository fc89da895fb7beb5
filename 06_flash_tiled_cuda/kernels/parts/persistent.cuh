/*
 * A producer, consumers, and pipelines between them.
 *
 * Margin: FlashAttention-2, Algorithm 1.
 */
#ifndef FLASH_TILED_CUDA_PERSISTENT_CUH
#define FLASH_TILED_CUDA_PERSISTENT_CUH

#include "06_flash_tiled_cuda/kernels/parts/full_empty.cuh"
#include "06_flash_tiled_cuda/kernels/parts/overlap.cuh"
#include "06_flash_tiled_cuda/kernels/parts/queue.h"

// clang-format off

enum { STAGES = 2, PRODUCER = 128, CONSUMERS_BARRIER = 1, TURN = 2, NO_MORE = -1 };
static_assert(STAGES >= 2, "a turn guarantees only that K of tile n - 2 was released");

/* Queries from i0 attend to `attended` keys in `tiles` tiles; head is NO_MORE after the last. */
struct tile_of_queries {
    int head, kv, i0, attended, tiles;
};

template <class TRAITS>
__device__ static inline struct tile_of_queries tile_number(const struct attention &p, unsigned number)
{
    if (number >= queue_length(&p, TRAITS::BR))
        return { NO_MORE, 0, 0, 0, 0 };
    const struct queued q = queue_at(&p, TRAITS::BR, number);
    const int i0 = (int)q.i0, attended = keys_attended(p, min(i0 + TRAITS::BR, (int)p.Nq) - 1);
    return { (int)q.head, kv_head_index(p, q.head), i0, attended, (attended + TRAITS::BC - 1) / TRAITS::BC };
}

struct persistent_block {
    pipeline<1> Q;
    pipeline<STAGES> K, V;
    struct tile_of_queries given;
};

template <class TRAITS> __device__ static inline void begin_block(struct persistent_block *block)
{
    if (threadIdx.x == 0) {
        block->Q.init(TRAITS::THREADS);  // each reads `given`
        block->K.init(TRAITS::BR / GROUP_ROWS);
        block->V.init(TRAITS::BR / GROUP_ROWS);
        fence_async();
    }
    __syncthreads();
}

template <class TRAITS>
__device__ static inline void produce(const struct attention &p, unsigned *next, const struct tile_maps &maps,
                                      unsigned char *smem, struct persistent_block *block)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D, Q_BYTES = Br * D * 2, K_BYTES = Bc * D * 2 };
    int done = 0;  // key tiles
    const auto load_keys = [&](pipeline<STAGES> *keys, const tensor_map *map, int at, int n, int kv) {
        keys->producer_acquire(done + n);
        uint64_t *const full = keys->producer_expect(done + n, K_BYTES);
        tma_load_rows<Bc, D>(smem + Q_BYTES + keys->stage(done + n) * 2 * K_BYTES + at, map, full, n * Bc, kv);
    };
    for (int taken = 0;; taken++) {                                          // 3
        const unsigned number = atomicAdd(next, 1);
        const struct tile_of_queries tile = tile_number<TRAITS>(p, number);
        block->Q.producer_acquire(taken);
        block->given = tile;
        uint64_t *const full = block->Q.producer_expect(taken, tile.head == NO_MORE ? 0 : Q_BYTES);
        if (tile.head == NO_MORE)
            return;
        tma_load_rows<Br, D>(smem, &maps.Q, full, tile.i0, tile.head);       // 4
        for (int n = 0; n <= tile.tiles; n++) {                              // 6
            if (n < tile.tiles)
                load_keys(&block->K, &maps.K, 0, n, tile.kv);                // 7
            if (n > 0)
                load_keys(&block->V, &maps.V, K_BYTES, n - 1, tile.kv);
        }
        done += tile.tiles;
    }
}

/* A consumer computes 64 rows of each tile; epilogue(&acc, head, i0) stores O. */
template <class T, class TRAITS, class EPILOGUE>
__device__ static inline void consume(const struct attention &p, unsigned char *smem, struct persistent_block *block,
                                      EPILOGUE epilogue)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D, Q_BYTES = Br * D * 2, K_BYTES = Bc * D * 2 };
    enum { CONSUMERS = Br / GROUP_ROWS };
    static_assert(Br - GROUP_ROWS <= Bc, "a warpgroup may skip one tile in causal order: with two, it would wait for a V whose stage it has not released");
    int done = 0;
    const struct folded_scale f = fold(p.scale);
    const unsigned char *const Q = rows_of_group(smem);
    const auto K_of = [&](int n) { return smem + Q_BYTES + block->K.stage(done + n) * 2 * K_BYTES; };
    const auto V_of = [&](int n) { return K_of(n) + K_BYTES; };
    const unsigned warpgroup = warpgroup_number();
    const auto wait_turn = [&] { barrier_sync(TURN + warpgroup, 256); };  // 128 wait, 128 arrive
    const auto pass_turn = [&] { barrier_arrive(TURN + (warpgroup + 1) % CONSUMERS, 256); };
    fragments<TRAITS> acc;
    if (warpgroup == CONSUMERS - 1)
        pass_turn();            // consumer 0 begins
    for (int taken = 0;; taken++) {                                          // 3
        block->Q.consumer_wait(taken);
        const struct tile_of_queries &given = block->given;
        const int head = warp_uniform(given.head), i0 = warp_uniform(given.i0), attended = warp_uniform(given.attended), tiles = warp_uniform(given.tiles);
        if (head == NO_MORE)
            return;
        const int first_masked_key = warp_uniform(keys_attended(p, i0 + warp_row<TRAITS>()));
        const int end_key = keys_attended(p, min(i0 + (int)(warpgroup + 1) * GROUP_ROWS, (int)p.Nq) - 1);
        begin(&acc);                                                         // 5
        if (p.scale <= 0.0f) {
            flip_query_signs<TRAITS, swizzled_rows<TRAITS>>((uint4 *)smem, f);
            fence_async();
            barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
        }
        const int my_tiles = (end_key + Bc - 1) / Bc;
        float rescale[TRAITS::M_TILES][2] = {};
        unsigned P[Bc / 16][4];
        if (my_tiles > 0) {
            block->K.consumer_wait(done);
            wait_turn();
            issue_scores<T>(&acc, Q, K_of(0));                               // 8
            pass_turn();
            wgmma_wait<0>(flat<Bc / 2>(acc.S));
            block->K.warpgroup_release(done);
            if (my_tiles == 1)
                block->Q.consumer_release(taken);  // the next Q may be loaded
            if (Bc > first_masked_key)
                mask_keys(&acc, p, i0, 0);
            lazy_weights(&acc, f.k, rescale);                                // 9, 10: O is 0
            pack_weights<T>(&acc, P);
            if (my_tiles > 1)
                block->K.consumer_wait(done + 1);
        }
        for (int n = 1; n < my_tiles; n++) {                                 // 6
            block->V.consumer_wait(done + n - 1);
            wait_turn();
            issue_scores<T>(&acc, Q, K_of(n));                               // 8
            issue_product<T>(&acc, P, V_of(n - 1));                          // 10, of tile n - 1
            pass_turn();
            wgmma_wait<1>(flat<Bc / 2>(acc.S));
            block->K.warpgroup_release(done + n);
            if (n + 1 == my_tiles)
                block->Q.consumer_release(taken);
            if ((n + 1) * Bc > first_masked_key)
                mask_keys(&acc, p, i0, n * Bc);
            const bool needs_rescale = lazy_weights(&acc, f.k, rescale);     // 9, 10
            if (n + 1 < my_tiles) {  // as in overlap
                block->K.consumer_wait(done + n + 1);
                wgmma_wait<0>(flat<D / 2>(acc.O), P);
            } else
                wgmma_wait<0>(flat<D / 2>(acc.O), P);
            block->V.warpgroup_release(done + n - 1);
            if (needs_rescale)
                rescale_output(&acc, rescale);                               // 10
            pack_weights<T>(&acc, P);
        }
        if (my_tiles == 0)
            block->Q.consumer_release(taken);
        for (int n = my_tiles; n < tiles; n++) {  // another warpgroup has more tiles
            wait_turn();  // the others have released this stage's last K
            pass_turn();
            block->K.warpgroup_release(done + n);
        }
        if (tiles * Bc > attended && attended < (int)p.Nk) {
            block->V.consumer_wait(done + tiles - 1);
            zero_values<TRAITS>(V_of(tiles - 1), attended - (tiles - 1) * Bc);
            fence_async();
            barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
        }
        if (my_tiles > 0) {
            block->V.consumer_wait(done + my_tiles - 1);
            issue_product<T>(&acc, P, V_of(my_tiles - 1));                   // 10
            wgmma_wait<0>(flat<D / 2>(acc.O), P);
            block->V.warpgroup_release(done + my_tiles - 1);
        }
        scale_maximum(&acc, f.scale);
        epilogue(&acc, head, i0);                                            // 12 to 15
        for (int n = my_tiles; n < tiles; n++) {
            block->V.consumer_wait(done + n);  // else the release could count for the stage's previous V
            block->V.warpgroup_release(done + n);
        }
        done += tiles;
    }
}

// clang-format on

static inline unsigned persistent_block_count(const struct attention *p, unsigned Br)
{
    int processors = 0, device = current_device();
    CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const unsigned tiles = (unsigned)queue_length(p, Br);
    return tiles < (unsigned)processors ? tiles : (unsigned)processors;
}

#endif
