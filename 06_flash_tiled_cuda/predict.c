/*
 * The closed forms of every kernel's accesses to global memory, in all heads, counted in words of 4
 * bytes. The last column of accesses_add is the formula for one head without masks.
 */
#include "06_flash_tiled_cuda/program.h"

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * How many keys query i attends to, always the first ones: these kernels support no mask but
 * `causal`.
 */
static size_t keys_attended(const struct attention *p, size_t i)
{
    const ptrdiff_t attended = (ptrdiff_t)i + attention_band(p).high + 1;
    return attended < 0 ? 0 : min((size_t)attended, p->Nk);
}

void predict_naive(const struct attention *p, struct tile_size s, struct accesses *a)
{
    (void)s;  // its accesses have no tiles
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

/* In one head, the queries of all Br x Bc tiles that are not fully masked: Tc Nq without a mask. */
static size_t queries_of_tiles(const struct attention *p, size_t Br, size_t Bc)
{
    size_t queries = 0;
    for (size_t i0 = 0; i0 < p->Nq; i0 += Br) {
        const size_t rows = min(Br, p->Nq - i0), attended = keys_attended(p, i0 + rows - 1);
        queries += rows * ((attended + Bc - 1) / Bc);
    }
    return queries;
}

void predict_fa1(const struct attention *p, struct tile_size s, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq,
                 keys = heads * keys_attended(p, p->Nq - 1);
    const size_t updates = heads * queries_of_tiles(p, s.Br, s.Bc);  // of a query by a tile of keys
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

/*
 * In all heads, the keys that blocks of Br queries load: those that the last query attends to,
 * rounded up to whole tiles of Bc (1: not rounded), but none past the last key.
 */
static size_t keys_of_tiles(const struct attention *p, size_t Br, size_t Bc)
{
    size_t keys = 0;
    for (size_t i0 = 0; i0 < p->Nq; i0 += Br) {
        const size_t attended = keys_attended(p, min(i0 + Br, p->Nq) - 1);
        keys += min((attended + Bc - 1) / Bc * Bc, p->Nk);
    }
    return p->B * p->H * keys;
}

void predict_fa2(const struct attention *p, struct tile_size s, struct accesses *a)
{
    predict_streamed_keys(p, attention_rows(p), keys_of_tiles(p, s.Br, 1), "Tr Nk d", a);
}

void predict_tensor(const struct attention *p, struct tile_size s, struct accesses *a)
{
    predict_streamed_keys(p, attention_rows(p), keys_of_tiles(p, s.Br, 1), "Tr Nk d / 2", a);
}

/* The TMA loads full tiles of keys, even keys that no query of the block attends to. */
void predict_boxes(const struct attention *p, struct tile_size s, struct accesses *a)
{
    predict_streamed_keys(p, attention_rows(p), keys_of_tiles(p, s.Br, s.Bc), "Tr Nk d / 2", a);
}

/* wgmma does not load Q in blocks whose queries attend to no key. */
void predict_wgmma(const struct attention *p, struct tile_size s, struct accesses *a)
{
    predict_streamed_keys(p, p->B * p->H * queries_of_tiles(p, s.Br, p->Nk),
                          keys_of_tiles(p, s.Br, s.Bc), "Tr Nk d / 2", a);
}

/* Every mask: each tile that is not skipped loads its keys. */
void predict_complete(const struct attention *p, struct tile_size s, struct accesses *a)
{
    size_t keys = 0;
    for (size_t n = 0; n < p->B * p->H; n++)
        for (size_t i0 = 0; i0 < p->Nq; i0 += s.Br)
            for (size_t j0 = 0; j0 < p->Nk; j0 += s.Bc) {
                const size_t i1 = min(i0 + s.Br, p->Nq), j1 = min(j0 + s.Bc, p->Nk);
                if (tile_kind(p, n / p->H, n % p->H, i0, i1, j0, j1) != TILE_SKIPPED)
                    keys += j1 - j0;
            }
    predict_streamed_keys(p, attention_rows(p), keys,
                          p->dtype == DTYPE_F32 ? "tiles' keys d" : "tiles' keys d / 2", a);
}
