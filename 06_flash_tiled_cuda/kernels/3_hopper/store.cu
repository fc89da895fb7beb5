/*
 * O leaves as tiles come: by the TMA.                                    as many accesses as wgmma
 *
 * persistent, but no thread writes O to global memory. A warpgroup puts its 64 rows into boxes in shared memory, with an
 * instruction for four 8 x 8 matrices (parts/store.cuh), and one thread asks for copies. The consumers go on with the next
 * tile meanwhile, and wait only before they use a box again.
 *
 * Dao, "FlashAttention-2", arXiv 2307.08691, Algorithm 1, whose line numbers stand at the right. A counter and the longest
 * first: also in FlashAttention-3's code, github.com/Dao-AILab/flash-attention, hopper/tile_scheduler.hpp.
 */
#include "06_flash_tiled_cuda/kernels/parts/overlap.cuh"
#include "06_flash_tiled_cuda/kernels/parts/queue.h"
#include "06_flash_tiled_cuda/kernels/parts/store.cuh"

// The numbers of the paper's lines stand in a column.
// clang-format off

// 128 threads with few registers and 256 with many have no more of them than 384 with 168; with 384 consumers, 512 with 128.
enum { STAGES = 2, PRODUCER = 128, CONSUMERS_BARRIER = 1, TURN = 2, NO_MORE = -1 };
enum { TWO_FEW = 24, TWO_MANY = 240, THREE_FEW = 32, THREE_MANY = 160 };
static_assert(STAGES >= 2, "before tile n a turn makes sure of no more than that K of tile n - 2 is let go");

/* A tile of queries: its head, the head of its keys, its first query, and how many keys its last query sees. If there
   are no more, the head is NO_MORE. */
struct tile_of_queries {
    int head, kv, i0, Nk, tiles;
};

template <class TRAITS>
__device__ static inline struct tile_of_queries tile_number(const struct attention &p, unsigned number)
{
    if (number >= queue_length(&p, TRAITS::BR))
        return { NO_MORE, 0, 0, 0, 0 };
    const struct queued q = queue_at(&p, TRAITS::BR, number);
    const int i0 = (int)q.i0, Nk = keys_attended(p, min(i0 + TRAITS::BR, (int)p.Nq) - 1);
    return { (int)q.head, keys_of_head(p, q.head), i0, Nk, (Nk + TRAITS::BC - 1) / TRAITS::BC };
}

template <class T, class TRAITS>
static __global__ void __launch_bounds__(TRAITS::THREADS + PRODUCER, 1)
    store_tiles(struct attention p, struct device_arrays a, const __grid_constant__ struct tile_maps maps)
{
    enum { Br = TRAITS::BR, Bc = TRAITS::BC, D = TRAITS::D, Q_BYTES = Br * D * 2, K_BYTES = Bc * D * 2 };
    enum { CONSUMERS = Br / GROUP_ROWS, BOXES = store_boxes<TRAITS, STAGES>::EACH };
    extern __shared__ __align__(1024) unsigned char smem[];
    __shared__ uint64_t Q_full, Q_empty, K_full[STAGES], V_full[STAGES], K_empty[STAGES], V_empty[STAGES];
    __shared__ struct tile_of_queries given;  // the one whose Q is there
    const int Nq = (int)p.Nq;
    if (threadIdx.x == 0) {
        mbarrier_init(&Q_full, 1);
        mbarrier_init(&Q_empty, TRAITS::THREADS);
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(&K_full[s], 1);
            mbarrier_init(&V_full[s], 1);
            mbarrier_init(&K_empty[s], TRAITS::THREADS);
            mbarrier_init(&V_empty[s], TRAITS::THREADS);
        }
        fence_async();
    }
    __syncthreads();  // the mbarriers are there
    int done = 0;     // tiles of keys that belong to tiles of queries before this one

    if (threadIdx.x >= TRAITS::THREADS) {
        setmaxnreg_dec<CONSUMERS == 2 ? TWO_FEW : THREE_FEW>();
        if (threadIdx.x > TRAITS::THREADS)
            return;
        const auto tma_load_keys = [&](const tensor_map *map, int at, uint64_t *full, uint64_t *empty, int n, int kv) {
            const int s = (done + n) % STAGES, parity = (done + n) / STAGES % 2;
            mbarrier_wait(&empty[s], parity ^ 1);  // the first time round it is
            mbarrier_arrive_expect(&full[s], K_BYTES);
            tma_load_rows<Bc, D>(smem + Q_BYTES + s * 2 * K_BYTES + at, map, &full[s], n * Bc, kv);
        };
        for (unsigned turn = 0;; turn++) {                                   // 3
            const unsigned number = atomicAdd(a.next, 1);
            const struct tile_of_queries tile = tile_number<TRAITS>(p, number);
            mbarrier_wait(&Q_empty, turn % 2 ^ 1);
            given = tile;
            if (tile.head == NO_MORE) {
                mbarrier_arrive(&Q_full);
                return;
            }
            const auto [head, kv, i0, Nk, tiles] = tile;
            mbarrier_arrive_expect(&Q_full, Q_BYTES);
            tma_load_rows<Br, D>(smem, &maps.Q, &Q_full, i0, head);          // 4
            for (int n = 0; n <= tiles; n++) {                               // 6, in the order in which they are used
                if (n < tiles)
                    tma_load_keys(&maps.K, 0, K_full, K_empty, n, kv);       // 7
                if (n > 0)
                    tma_load_keys(&maps.V, K_BYTES, V_full, V_empty, n - 1, kv);
            }
            done += tiles;
        }
    }

    setmaxnreg_inc<CONSUMERS == 2 ? TWO_MANY : THREE_MANY>();
    const struct folded_scale f = fold(p.scale);
    const auto stage = [&](int n) { return (done + n) % STAGES; };
    const auto parity = [&](int n) { return (done + n) / STAGES % 2; };
    const unsigned char *const Q = rows_of_group(smem);
    const auto K_of = [&](int n) { return smem + Q_BYTES + stage(n) * 2 * K_BYTES; };
    const auto V_of = [&](int n) { return K_of(n) + K_BYTES; };
    const unsigned who = warpgroup_number();
    const auto my_turn = [&] { barrier_sync(TURN + who, 256); };
    const auto your_turn = [&] { barrier_arrive(TURN + (who + 1) % CONSUMERS, 256); };
    unsigned char *const boxes = smem + Q_BYTES + STAGES * 2 * K_BYTES;
    fragments<TRAITS> acc;
    if (who == CONSUMERS - 1)
        your_turn();            // the first consumer begins, and after the last one's last turn again
    for (unsigned turn = 0;; turn++) {                                       // 3
        mbarrier_wait(&Q_full, turn % 2);
        const int head = uniform(given.head), i0 = uniform(given.i0), Nk = uniform(given.Nk), tiles = uniform(given.tiles);
        if (head == NO_MORE) {
            boxes_read();       // before the block's memory is gone
            return;
        }
        const int least = uniform(keys_attended(p, i0 + warp_row<TRAITS>()));
        const int most = keys_attended(p, min(i0 + (int)(who + 1) * GROUP_ROWS, Nq) - 1);
        begin(&acc);                                                         // 5
        if (p.scale <= 0.0f) {
            turn_queries<TRAITS, swizzled_rows<TRAITS>>((uint4 *)smem, f);
            fence_async();      // threads have written what the tensor cores will read
            barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);
        }
        const int mine = (most + Bc - 1) / Bc;  // tiles of which a query of this warpgroup attends to a key
        float later[TRAITS::M_TILES][2] = {};
        unsigned P[Bc / 16][4];
        if (mine > 0) {
            mbarrier_wait(&K_full[stage(0)], parity(0));
            my_turn();
            issue_scores<T>(&acc, Q, K_of(0));                               // 8
            your_turn();
            wgmma_wait<0>(flat<Bc / 2>(acc.S));
            mbarrier_arrive(&K_empty[stage(0)]);
            if (mine == 1)
                mbarrier_arrive(&Q_empty);      // the next tile's may come
            if (Bc > least)
                hide_keys(&acc, p, i0, 0);
            lazy_weights(&acc, f.k, later);                                  // 9, 10: O is 0
            pack_weights<T>(&acc, P);
            if (mine > 1)
                mbarrier_wait(&K_full[stage(1)], parity(1));
        }
        for (int n = 1; n < mine; n++) {                                     // 6
            mbarrier_wait(&V_full[stage(n - 1)], parity(n - 1));
            my_turn();                          // and then it waits for nothing else
            issue_scores<T>(&acc, Q, K_of(n));                               // 8
            issue_product<T>(&acc, P, V_of(n - 1));                          // 10, of tile n - 1
            your_turn();
            wgmma_wait<1>(flat<Bc / 2>(acc.S));  // the scores are there
            mbarrier_arrive(&K_empty[stage(n)]);
            if (n + 1 == mine)
                mbarrier_arrive(&Q_empty);
            if ((n + 1) * Bc > least)
                hide_keys(&acc, p, i0, n * Bc);
            const bool moves = lazy_weights(&acc, f.k, later);               // 9, 10
            if (n + 1 < mine) {                  // and now the product: above a branch ptxas moves neither wait
                mbarrier_wait(&K_full[stage(n + 1)], parity(n + 1));
                wgmma_wait<0>(flat<D / 2>(acc.O));
            } else
                wgmma_wait<0>(flat<D / 2>(acc.O));
            mbarrier_arrive(&V_empty[stage(n - 1)]);
            if (moves)
                move_output(&acc, later);                                    // 10
            pack_weights<T>(&acc, P);
        }
        if (mine == 0)
            mbarrier_arrive(&Q_empty);          // its queries see no key
        for (int n = mine; n < tiles; n++) {  // another has more tiles, and waits for a turn before each
            my_turn();  // by now the others have let go the K that was in this stage before
            your_turn();
            mbarrier_arrive(&K_empty[stage(n)]);
        }
        if (tiles * Bc > Nk && Nk < (int)p.Nk) {
            mbarrier_wait(&V_full[stage(tiles - 1)], parity(tiles - 1));
            blank_values<TRAITS>(V_of(tiles - 1), Nk - (tiles - 1) * Bc);
            fence_async();
            barrier_sync(CONSUMERS_BARRIER, TRAITS::THREADS);  // the producer does not come to it
        }
        if (mine > 0) {
            mbarrier_wait(&V_full[stage(mine - 1)], parity(mine - 1));
            issue_product<T>(&acc, P, V_of(mine - 1));                       // 10, of the last tile
            wgmma_wait<0>(flat<D / 2>(acc.O));
            mbarrier_arrive(&V_empty[stage(mine - 1)]);
        }
        scale_maximum(&acc, f.scale);
        group_store<T, BOXES>(&acc, boxes, &maps.O, a.lse, i0, Nq, head);  // 12 to 15
        for (int n = mine; n < tiles; n++) {
            mbarrier_wait(&V_full[stage(n)], parity(n));  // or it would let go the V that was there before
            mbarrier_arrive(&V_empty[stage(n)]);
        }
        done += tiles;
    }
}

// clang-format on

/* As many blocks as there are multiprocessors, each of which holds one; and no more than there are tiles. */
template <class T, class TRAITS>
static void launch_tile(const struct attention *p, const struct device_arrays *a,
                        cudaStream_t stream)
{
    int processors = 0, device = current_device();
    CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int tiles = (int)queue_length(p, TRAITS::BR);
    const size_t bytes = store_boxes<TRAITS, STAGES>::BYTES;
    const unsigned blocks = (unsigned)(tiles < processors ? tiles : processors);
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
