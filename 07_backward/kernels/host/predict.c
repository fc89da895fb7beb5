#include "07_backward/kernels/host/run.h"
#include "07_backward/kernels/parts/tensor_tiles.h"
#include "07_backward/kernels/parts/tiles.h"

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

void predict_cuda_standard(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    const size_t pairs = attention_pairs(p), d = p->d;
    accesses_add(a, "Q loads", 2 * pairs * d, "2 pairs d");
    accesses_add(a, "K loads", 2 * pairs * d, "2 pairs d");
    accesses_add(a, "V loads", pairs * d, "pairs d");
    accesses_add(a, "dO loads", 2 * pairs * d, "2 pairs d");
    accesses_add(a, "P stores", 2 * pairs, "2 pairs");
    accesses_add(a, "P loads", pairs * (5 + d), "pairs (5 + d)");
    accesses_add(a, "dS stores", 2 * pairs, "2 pairs");
    accesses_add(a, "dS loads", pairs * (2 + 2 * d), "pairs (2 + 2 d)");
    accesses_add(a, "dQ stores", attention_query_elements(p), "Nq d");
    accesses_add(a, "dK stores", attention_key_elements(p), "Nk d");
    accesses_add(a, "dV stores", attention_key_elements(p), "Nk d");
}

/* Queries and attended keys of tiles that are not skipped. */
static struct tile_counts tiles_of_size(const struct attention *p, struct tile_size size)
{
    struct tile_counts all = count_tiles(p, size);
    all.keys = 0;
    for (size_t i0 = 0; i0 < p->Nq; i0 += size.Br) {
        const ptrdiff_t last = (ptrdiff_t)min(i0 + size.Br, p->Nq) - 1;
        const ptrdiff_t seen = last + attention_band(p).high + 1;
        all.keys += p->B * p->H * (seen < 0 ? 0 : min((size_t)seen, p->Nk));
    }
    return all;
}

/* complete loads all keys of a tile. */
static struct tile_counts tiles_of(const struct attention *p, bool options)
{
    const struct tile_size size = { Br, Bc };
    return options ? count_tiles(p, size) : tiles_of_size(p, size);
}

static void predict_D(const struct attention *p, struct accesses *a)
{
    accesses_add(a, "O loads", attention_query_elements(p), "Nq d");
    accesses_add(a, "D stores", attention_rows(p), "Nq");
    accesses_add(a, "dK stores", attention_key_elements(p), "Nk d");
    accesses_add(a, "dV stores", attention_key_elements(p), "Nk d");
}

void predict_cuda_recompute(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    const struct tile_counts t = tiles_of(p, false);
    const size_t rows = attention_rows(p), d = p->d;
    predict_D(p, a);
    accesses_add(a, "Q loads", 2 * t.queries * d, "2 Tc Nq d");
    accesses_add(a, "dO loads", (t.queries + rows) * d, "(Tc + 1) Nq d");
    accesses_add(a, "lse loads", t.queries, "Tc Nq");
    accesses_add(a, "D loads", t.queries, "Tc Nq");
    accesses_add(a, "K loads", 2 * t.keys * d, "2 Tr Nk d");
    accesses_add(a, "V loads", t.keys * d, "Tr Nk d");
    accesses_add(a, "dQ loads", t.queries * d, "Tc Nq d");
    accesses_add(a, "dQ stores", t.queries * d, "Tc Nq d");
}

static void predict_two_kernels(const struct attention *p, struct tile_counts t, struct accesses *a)
{
    const size_t rows = attention_rows(p), d = p->d;
    predict_D(p, a);
    accesses_add(a, "Q loads", 3 * t.queries * d, "3 Tc Nq d");
    accesses_add(a, "dO loads", (2 * t.queries + rows) * d, "(2 Tc + 1) Nq d");
    accesses_add(a, "lse loads", t.queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "D loads", t.queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "K loads", 3 * t.keys * d, "3 Tr Nk d");
    accesses_add(a, "V loads", 2 * t.keys * d, "2 Tr Nk d");
    accesses_add(a, "dQ stores", rows * d, "Nq d");
}

void predict_cuda_deterministic(const struct attention *p, struct tile_size size,
                                struct accesses *a)
{
    (void)size;
    predict_two_kernels(p, tiles_of(p, false), a);
}

/* Loaded by blocks of keys, and keys by blocks of queries. An access has two elements. */
struct tensor_counts {
    size_t rows, queries, keys, keys_in_blocks;
};

static struct tensor_counts tensor_counts_of(const struct attention *p, size_t tile)
{
    const struct tile_size keys = { tile, KEYS_BC(p->d) };
    const struct tile_size all_queries = { p->Nq, KEYS_BC(p->d) };
    const struct tile_size queries = { QUERIES_BR(p->d), QUERIES_BC(p->d) };
    return (struct tensor_counts){
        .rows = attention_rows(p),
        .queries = tiles_of_size(p, keys).queries,
        .keys = tiles_of_size(p, all_queries).keys,
        .keys_in_blocks = tiles_of_size(p, queries).keys,
    };
}

static void predict_only_D_16(const struct attention *p, struct accesses *a)
{
    accesses_add(a, "O loads", attention_query_elements(p) / 2, "Nq d / 2");
    accesses_add(a, "D stores", attention_rows(p), "Nq");
}

static void predict_D_16(const struct attention *p, struct accesses *a)
{
    predict_only_D_16(p, a);
    accesses_add(a, "dK stores", attention_key_elements(p), "Nk d");
    accesses_add(a, "dV stores", attention_key_elements(p), "Nk d");
}

static struct tensor_counts tensor_counts_with_options(const struct attention *p)
{
    const struct tile_size keys = { KEYS_BR(p->d), KEYS_BC(p->d) };
    const struct tile_size queries = { QUERIES_BR(p->d), QUERIES_BC(p->d) };
    return (struct tensor_counts){
        .rows = attention_rows(p),
        .queries = KEYS_PARTS(p->d) * count_tiles(p, keys).queries,
        .keys = KEYS_PARTS(p->d) * p->B * p->Hkv * p->Nk,
        .keys_in_blocks = count_tiles(p, queries).keys,
    };
}

static void predict_split_16(const struct attention *p, struct tensor_counts t, struct accesses *a)
{
    const bool halves = KEYS_PARTS(p->d) == 2;
    const char *const rows = halves ? "(2 Tc + 1) Nq" : "(Tc + 1) Nq";
    const char *const keys = halves ? "(Tr + 2) Nk d / 2" : "(Tr + 1) Nk d / 2";
    const size_t two = p->d / 2;
    predict_D_16(p, a);
    accesses_add(a, "Q loads", (t.queries + t.rows) * two,
                 halves ? "(2 Tc + 1) Nq d / 2" : "(Tc + 1) Nq d / 2");
    accesses_add(a, "dO loads", (t.queries + 2 * t.rows) * two,
                 halves ? "(2 Tc + 2) Nq d / 2" : "(Tc + 2) Nq d / 2");
    accesses_add(a, "lse loads", t.queries + t.rows, rows);
    accesses_add(a, "D loads", t.queries + t.rows, rows);
    accesses_add(a, "K loads", (t.keys + t.keys_in_blocks) * two, keys);
    accesses_add(a, "V loads", (t.keys + t.keys_in_blocks) * two, keys);
    accesses_add(a, "dQ stores", t.rows * p->d, "Nq d");
}

void predict_cuda_mma_split(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    predict_split_16(p, tensor_counts_of(p, KEYS_BR(p->d)), a);
}

void predict_cuda_mma(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    const struct tensor_counts t = tensor_counts_of(p, MMA_BR(p->d));
    const size_t two = p->d / 2;
    predict_D_16(p, a);
    accesses_add(a, "Q loads", t.queries * two, "Tc Nq d / 2");
    accesses_add(a, "dO loads", (t.queries + t.rows) * two, "(Tc + 1) Nq d / 2");
    accesses_add(a, "lse loads", t.queries, "Tc Nq");
    accesses_add(a, "D loads", t.queries, "Tc Nq");
    accesses_add(a, "K loads", t.keys * two, "Nk d / 2");
    accesses_add(a, "V loads", t.keys * two, "Nk d / 2");
    accesses_add(a, "dQ loads", t.queries * p->d, "Tc Nq d");
    accesses_add(a, "dQ stores", t.queries * p->d, "Tc Nq d");
}

/* All of a block's 128 keys if any is attended to, once per key/value head. */
static size_t keys_in_boxes(const struct attention *p)
{
    const ptrdiff_t seen = (ptrdiff_t)p->Nq + attention_band(p).high;
    const size_t some = seen < 0 ? 0 : min((size_t)seen, p->Nk);
    const size_t blocks = (some + HOPPER_KEYS - 1) / HOPPER_KEYS;
    return p->B * p->Hkv * min(blocks * HOPPER_KEYS, p->Nk);
}

static size_t queries_in_boxes(const struct attention *p)
{
    return tiles_of_size(p, (struct tile_size){ HOPPER_QUERIES(p->d), HOPPER_KEYS }).queries;
}

static void predict_inputs_in_boxes(const struct attention *p, struct accesses *a)
{
    const size_t queries = queries_in_boxes(p), keys = keys_in_boxes(p), two = p->d / 2;
    accesses_add(a, "Q loads", queries * two, "Tc Nq d / 2");
    accesses_add(a, "dO loads", (queries + attention_rows(p)) * two, "(Tc + 1) Nq d / 2");
    accesses_add(a, "lse loads", queries, "Tc Nq");
    accesses_add(a, "D loads", queries, "Tc Nq");
    accesses_add(a, "K loads", keys * two, "Nk d / 2");
    accesses_add(a, "V loads", keys * two, "Nk d / 2");
}

void predict_cuda_boxes(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    const size_t added = queries_in_boxes(p) * p->d;
    predict_D_16(p, a);
    predict_inputs_in_boxes(p, a);
    accesses_add(a, "dQ loads", added, "Tc Nq d");
    accesses_add(a, "dQ stores", added, "Tc Nq d");
}

void predict_cuda_store(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    const size_t added = queries_in_boxes(p) * p->d, elements = attention_query_elements(p);
    predict_only_D_16(p, a);
    predict_inputs_in_boxes(p, a);
    accesses_add(a, "sums loads", added + elements, "(Tc + 1) Nq d");
    accesses_add(a, "sums stores", added, "Tc Nq d");
    accesses_add(a, "dQ stores", elements / 2, "Nq d / 2");
    accesses_add(a, "dK stores", attention_key_elements(p) / 2, "Nk d / 2");
    accesses_add(a, "dV stores", attention_key_elements(p) / 2, "Nk d / 2");
}

void predict_cuda_complete(const struct attention *p, struct tile_size size, struct accesses *a)
{
    (void)size;
    if (p->dtype == DTYPE_F32)
        predict_two_kernels(p, tiles_of(p, true), a);
    else
        predict_split_16(p, tensor_counts_with_options(p), a);
}
