/*
 * The closed forms of every step's accesses to slow memory, and its tiles.
 */
#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/tile.h"

void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq, pairs = rows * p->Nk;
    const size_t keys = heads * ceil_div(p->Nq, size.Br) * p->Nk;
    a->tiles = count_tiles(p, size);
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "K loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "S stores", pairs, "Nq Nk");
    accesses_add(a, "S loads", 3 * pairs, "3 Nq Nk");
    accesses_add(a, "P stores", pairs, "Nq Nk");
    accesses_add(a, "P loads", pairs, "Nq Nk");
    accesses_add(a, "V loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "O stores", rows * p->d, "Nq d");
}

void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq, Tc = ceil_div(p->Nk, size.Bc);
    a->tiles = count_tiles(p, size);
    accesses_add(a, "K loads", heads * p->Nk * p->d, "Nk d");
    accesses_add(a, "V loads", heads * p->Nk * p->d, "Nk d");
    accesses_add(a, "Q loads", Tc * rows * p->d, "Tc Nq d");
    accesses_add(a, "O loads", Tc * rows * p->d, "Tc Nq d");
    accesses_add(a, "O stores", (Tc + 1) * rows * p->d, "(Tc + 1) Nq d");
    accesses_add(a, "m loads", (Tc + 1) * rows, "(Tc + 1) Nq");
    accesses_add(a, "m stores", (Tc + 1) * rows, "(Tc + 1) Nq");
    accesses_add(a, "l loads", (Tc + 1) * rows, "(Tc + 1) Nq");
    accesses_add(a, "l stores", (Tc + 1) * rows, "(Tc + 1) Nq");
    accesses_add(a, "lse stores", rows, "Nq");
}

/* For an outer loop over Q. `keys`: the keys of all tiles that are not skipped, of all heads. */
static void predict_outer_q(const struct attention *p, size_t keys, const char *formula,
                            struct accesses *a)
{
    const size_t rows = attention_rows(p);
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "K loads", keys * p->d, formula);
    accesses_add(a, "V loads", keys * p->d, formula);
    accesses_add(a, "O stores", rows * p->d, "Nq d");
}

void predict_block_matmul(const struct attention *p, struct tile_size size, struct accesses *a)
{
    a->tiles = count_tiles(p, size);
    predict_outer_q(p, p->B * p->H * ceil_div(p->Nq, size.Br) * p->Nk, "Tr Nk d", a);
}

void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_block_matmul(p, size, a);
    accesses_add(a, "lse stores", attention_rows(p), "Nq");
}

void predict_masks(const struct attention *p, struct tile_size size, struct accesses *a)
{
    a->tiles = count_tiles(p, size);
    predict_outer_q(p, a->tiles.keys, "tiles' keys d", a);
    accesses_add(a, "lse stores", attention_rows(p), "Nq");
}

void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a)
{
    a->splits = split_count(p);
    for (size_t j0 = 0; j0 < p->Nk; j0 += SPLIT_KEYS)
        count_tiles_between(p, size, j0, min(j0 + SPLIT_KEYS, p->Nk), &a->tiles);
}

void predict_split_kv(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_complete(p, size, a);
    const size_t splits = a->splits, keys = a->tiles.keys, rows = attention_rows(p);
    accesses_add(a, "Q loads", splits * rows * p->d, "splits Nq d");
    accesses_add(a, "K loads", keys * p->d, "tiles' keys d");
    accesses_add(a, "V loads", keys * p->d, "tiles' keys d");
    accesses_add(a, "split m stores", splits * rows, "splits Nq");
    accesses_add(a, "split m loads", splits * rows, "splits Nq");
    accesses_add(a, "split l stores", splits * rows, "splits Nq");
    accesses_add(a, "split l loads", splits * rows, "splits Nq");
    accesses_add(a, "split O stores", splits * rows * p->d, "splits Nq d");
    accesses_add(a, "split O loads", splits * rows * p->d, "splits Nq d");
    accesses_add(a, "O stores", rows * p->d, "Nq d");
    accesses_add(a, "lse stores", rows, "Nq");
}
