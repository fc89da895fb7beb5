/*
 * The closed forms of every step's accesses to slow memory, its tiles, and its matrix products.
 */
#include "07_backward/program.h"

/* `products` matrix products, each 2 d operations for each of the pairs of all heads. */
static void predict_products(const struct attention *p, size_t products, size_t pairs,
                             struct accesses *a)
{
    a->products = products * 2 * p->d * pairs;
}

void predict_complete(const struct attention *p, struct tile_size size, struct accesses *a)
{
    a->tiles = count_tiles(p, size);
    predict_products(p, 5, a->tiles.pairs, a);
}

void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq, pairs = rows * p->Nk;
    const size_t Tr = (p->Nq - 1) / size.Br + 1, Tc = (p->Nk - 1) / size.Bc + 1;
    const size_t keys = heads * Tr * p->Nk;
    a->tiles = count_tiles(p, size);
    predict_products(p, 5, pairs, a);
    accesses_add(a, "Q loads", (1 + Tc) * rows * p->d, "(1 + Tc) Nq d");
    accesses_add(a, "K loads", 2 * keys * p->d, "2 Tr Nk d");
    accesses_add(a, "V loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "dO loads", (1 + Tc) * rows * p->d, "(1 + Tc) Nq d");
    accesses_add(a, "S stores", pairs, "Nq Nk");
    accesses_add(a, "S loads", 3 * pairs, "3 Nq Nk");
    accesses_add(a, "P stores", pairs, "Nq Nk");
    accesses_add(a, "P loads", 3 * pairs, "3 Nq Nk");
    accesses_add(a, "dP stores", pairs, "Nq Nk");
    accesses_add(a, "dP loads", 2 * pairs, "2 Nq Nk");
    accesses_add(a, "dS stores", pairs, "Nq Nk");
    accesses_add(a, "dS loads", 2 * pairs, "2 Nq Nk");
    accesses_add(a, "dQ stores", rows * p->d, "Nq d");
    accesses_add(a, "dK stores", heads * p->Nk * p->d, "Nk d");
    accesses_add(a, "dV stores", heads * p->Nk * p->d, "Nk d");
}

void predict_recompute(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t rows = attention_rows(p), keys = p->B * p->H * p->Nk;
    const size_t pairs = attention_pairs(p);
    a->tiles = count_tiles(p, size);
    predict_products(p, 5, pairs, a);
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "O loads", rows * p->d, "Nq d");
    accesses_add(a, "dO loads", rows * p->d, "Nq d");
    accesses_add(a, "lse loads", rows, "Nq");
    accesses_add(a, "K loads", pairs * p->d, "pairs d");
    accesses_add(a, "V loads", pairs * p->d, "pairs d");
    accesses_add(a, "dK loads", pairs * p->d, "pairs d");
    accesses_add(a, "dK stores", (pairs + keys) * p->d, "pairs d + Nk d");
    accesses_add(a, "dV loads", pairs * p->d, "pairs d");
    accesses_add(a, "dV stores", (pairs + keys) * p->d, "pairs d + Nk d");
    accesses_add(a, "dQ stores", rows * p->d, "Nq d");
}

/* Loads K and V, and stores dK and dV, once. */
static void keys_once(const struct attention *p, struct accesses *a)
{
    const size_t keys = attention_key_elements(p);
    accesses_add(a, "K loads", keys, "Nk d");
    accesses_add(a, "V loads", keys, "Nk d");
    accesses_add(a, "dK stores", keys, "Nk d");
    accesses_add(a, "dV stores", keys, "Nk d");
}

void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_complete(p, size, a);
    const size_t queries = a->tiles.queries, rows = attention_rows(p);
    keys_once(p, a);
    accesses_add(a, "Q loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "O loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "dO loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "dQ loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "dQ stores", (queries + rows) * p->d, "(Tc + 1) Nq d");
    accesses_add(a, "m loads", queries, "Tc Nq");
    accesses_add(a, "l loads", queries, "Tc Nq");
}

void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a)
{
    predict_complete(p, size, a);
    const size_t queries = a->tiles.queries, rows = attention_rows(p);
    keys_once(p, a);
    accesses_add(a, "O loads", rows * p->d, "Nq d");
    accesses_add(a, "D stores", rows, "Nq");
    accesses_add(a, "D loads", queries, "Tc Nq");
    accesses_add(a, "lse loads", queries, "Tc Nq");
    accesses_add(a, "Q loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "dO loads", (queries + rows) * p->d, "(Tc + 1) Nq d");
    accesses_add(a, "dQ loads", queries * p->d, "Tc Nq d");
    accesses_add(a, "dQ stores", (queries + rows) * p->d, "(Tc + 1) Nq d");
}

void predict_split(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const struct tile_counts tiles = count_tiles(p, size);
    a->tiles = tiles;
    predict_products(p, 7, tiles.pairs, a);
    const size_t rows = attention_rows(p), keys = p->B * p->H * p->Nk;
    accesses_add(a, "K loads", (keys + tiles.keys) * p->d, "(Tr + 1) Nk d");
    accesses_add(a, "V loads", (keys + tiles.keys) * p->d, "(Tr + 1) Nk d");
    accesses_add(a, "dK stores", keys * p->d, "Nk d");
    accesses_add(a, "dV stores", keys * p->d, "Nk d");
    accesses_add(a, "O loads", rows * p->d, "Nq d");
    accesses_add(a, "D stores", rows, "Nq");
    accesses_add(a, "D loads", tiles.queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "lse loads", tiles.queries + rows, "(Tc + 1) Nq");
    accesses_add(a, "Q loads", (tiles.queries + rows) * p->d, "(Tc + 1) Nq d");
    accesses_add(a, "dO loads", (tiles.queries + 2 * rows) * p->d, "(Tc + 2) Nq d");
    accesses_add(a, "dQ stores", rows * p->d, "Nq d");
}
