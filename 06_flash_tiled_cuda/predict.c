/*
 * The closed forms of every kernel's accesses to global memory, in all heads, counted in words of 4
 * bytes. The last column of accesses_add is the formula for one head without masks.
 */
#include "06_flash_tiled_cuda/program.h"

void predict_naive(const struct attention *p, struct tile_size s, struct accesses *a)
{
    (void)s;  // it has no tiles
    const size_t rows = attention_rows(p), pairs = attention_pairs(p);
    accesses_add(a, "Q loads", pairs * p->d, "pairs d");
    accesses_add(a, "K loads", pairs * p->d, "pairs d");
    accesses_add(a, "S stores", pairs, "pairs");
    accesses_add(a, "S loads", 3 * pairs, "3 pairs");
    accesses_add(a, "P stores", pairs, "pairs");
    accesses_add(a, "P loads", pairs * p->d, "pairs d");
    accesses_add(a, "V loads", pairs * p->d, "pairs d");
    accesses_add(a, "O stores", rows * p->d, "Nq d");
    accesses_add(a, "lse stores", rows, "Nq");
}

void predict_fa1(const struct attention *p, struct tile_size s, struct accesses *a)
{
    const size_t rows = attention_rows(p);
    const size_t keys = count_tiles(p, (struct tile_size){ p->Nq, 1 }).keys;
    const size_t updates = count_tiles(p, s).queries;  // of a query by a tile of keys
    accesses_add(a, "K loads", keys * p->d, "Nk d");
    accesses_add(a, "V loads", keys * p->d, "Nk d");
    accesses_add(a, "Q loads", updates * p->d, "Tc Nq d");
    accesses_add(a, "O loads", updates * p->d, "Tc Nq d");
    accesses_add(a, "O stores", (updates + rows) * p->d, "(Tc + 1) Nq d");
    accesses_add(a, "m loads", updates + rows, "(Tc + 1) Nq");
    accesses_add(a, "m stores", updates + rows, "(Tc + 1) Nq");
    accesses_add(a, "l loads", updates + rows, "(Tc + 1) Nq");
    accesses_add(a, "l stores", updates + rows, "(Tc + 1) Nq");
    accesses_add(a, "lse stores", rows, "Nq");
}

/*
 * Kernels whose blocks load a tile of queries once and stream keys past it: `queries` rows of Q and
 * `keys` rows of K and of V are loaded, in all heads. A word holds two elements of 16 bits.
 * `formula` is that of the loads of K.
 */
static void predict_streamed_keys(const struct attention *p, size_t queries, size_t keys,
                                  const char *formula, struct accesses *a)
{
    const size_t rows = attention_rows(p), words = p->d * dtype_bytes(p->dtype) / sizeof(float);
    const char *const of_rows = p->dtype == DTYPE_F32 ? "Nq d" : "Nq d / 2";
    accesses_add(a, "Q loads", queries * words, of_rows);
    accesses_add(a, "K loads", keys * words, formula);
    accesses_add(a, "V loads", keys * words, formula);
    accesses_add(a, "O stores", rows * words, of_rows);
    accesses_add(a, "lse stores", rows, "Nq");
}

/* A block loads the keys up to the last that one of its queries attends to: tiles of one key. */
void predict_fa2(const struct attention *p, struct tile_size s, struct accesses *a)
{
    const size_t keys = count_tiles(p, (struct tile_size){ s.Br, 1 }).keys;
    predict_streamed_keys(p, attention_rows(p), keys,
                          p->dtype == DTYPE_F32 ? "Tr Nk d" : "Tr Nk d / 2", a);
}

/* The TMA loads full tiles of keys, even keys that no query of the block attends to. */
void predict_boxes(const struct attention *p, struct tile_size s, struct accesses *a)
{
    predict_streamed_keys(p, attention_rows(p), count_tiles(p, s).keys, "Tr Nk d / 2", a);
}

/* wgmma does not load Q in blocks whose queries attend to no key. */
void predict_wgmma(const struct attention *p, struct tile_size s, struct accesses *a)
{
    const size_t queries = count_tiles(p, (struct tile_size){ s.Br, p->Nk }).queries;
    predict_streamed_keys(p, queries, count_tiles(p, s).keys, "Tr Nk d / 2", a);
}

/* Every mask: each tile that is not skipped loads its keys. */
void predict_complete(const struct attention *p, struct tile_size s, struct accesses *a)
{
    predict_streamed_keys(p, attention_rows(p), count_tiles(p, s).keys,
                          p->dtype == DTYPE_F32 ? "tiles' keys d" : "tiles' keys d / 2", a);
}
