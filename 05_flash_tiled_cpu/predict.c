/*
 * The closed forms of every step's accesses to slow memory, and its tiles.
 */
#include "05_flash_tiled_cpu/program.h"
#include "05_flash_tiled_cpu/steps/tile.h"

void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a)
{
    a->tiles = count_tiles(p, size);
    const size_t rows = attention_rows(p), keys = a->tiles.keys, pairs = rows * p->Nk;
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
    a->tiles = count_tiles(p, size);
    const size_t rows = attention_rows(p), queries = a->tiles.queries;
    accesses_add(a, "K loads", p->B * p->H * p->Nk * p->d, "Nk d");
    accesses_add(a, "V loads", p->B * p->H * p->Nk * p->d, "Nk d");
    accesses_add(a, "Q loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "O loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "O stores", (queries + rows) * p->d, "(Tc + 1) Nq d");
    accesses_add(a, "m loads", queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "m stores", queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "l loads", queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "l stores", queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "lse stores", rows, "Nq");
}

/* For an outer loop over Q: every tile that is not skipped loads its keys. */
static void predict_outer_q(const struct attention *p, struct tile_size size, const char *formula,
                            struct accesses *a)
{
    a->tiles = count_tiles(p, size);
    accesses_add(a, "Q loads", attention_rows(p) * p->d, "Nq d");
    accesses_add(a, "K loads", a->tiles.keys * p->d, formula);
    accesses_add(a, "V loads", a->tiles.keys * p->d, formula);
    accesses_add(a, "O stores", attention_rows(p) * p->d, "Nq d");
}

void predict_block_matmul(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_outer_q(p, size, "Tr Nk d", a);
}

void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_outer_q(p, size, "Tr Nk d", a);
    accesses_add(a, "lse stores", attention_rows(p), "Nq");
}

void predict_masks(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_outer_q(p, size, "tiles' keys d", a);
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
