/*
 * The closed forms of every step's accesses, and watched runs to hold against them.
 */
#include "07_backward/program/chapter.h"

#include "05_flash_tiled_cpu/steps/tile.h"
#include "common/cpu/memory.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t products_of(const struct step *step, const struct attention *p, struct tile_size size)
{
    const size_t products = step == &steps[SPLIT] ? 7 : 5;  // of 2 d operations for each pair
    if (step == &steps[STANDARD])
        return products * 2 * p->d * attention_rows(p) * p->Nk;
    if (step == &steps[RECOMPUTE])
        return products * 2 * p->d * attention_pairs(p);
    return products * 2 * p->d * count_tiles(p, size).pairs;
}

// ---- predictions --------------------------------------------------------------------------------

void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq, pairs = rows * p->Nk;
    const size_t Tr = (p->Nq - 1) / size.Br + 1, Tc = (p->Nk - 1) / size.Bc + 1;
    const size_t keys = heads * Tr * p->Nk;
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
    (void)size;
    const size_t rows = attention_rows(p), keys = p->B * p->H * p->Nk;
    const size_t pairs = attention_pairs(p);
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

/* K, V, dK and dV once. */
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
    const size_t queries = count_tiles(p, size).queries, rows = attention_rows(p);
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
    const size_t queries = count_tiles(p, size).queries, rows = attention_rows(p);
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

// ---- counting -----------------------------------------------------------------------------------

bool is_small(const struct attention *p)
{
    return 5.0 * (double)attention_rows(p) * (double)p->Nk * (double)p->d <= 4e8;
}

bool can_be_counted(const struct step *step, const struct attention *p)
{
    return CAN_WATCH && step->watched && is_small(p);
}

static void watch_all(const struct attention *p, struct tensors x)
{
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    traffic_watch("Q", x.Q, queries);
    traffic_watch("K", x.K, keys);
    traffic_watch("V", x.V, keys);
    traffic_watch("O", x.O, queries);
    traffic_watch("dO", x.dO, queries);
    traffic_watch("lse", x.lse, attention_rows(p));
    traffic_watch("m", x.m, attention_rows(p));
    traffic_watch("l", x.l, attention_rows(p));
    traffic_watch("dQ", x.dQ, queries);
    traffic_watch("dK", x.dK, keys);
    traffic_watch("dV", x.dV, keys);
}

struct count count_layer(const struct step *step, const struct attention_input *input,
                         const struct kept *kept, const float *dO, struct tile_size size)
{
    const struct attention *p = &input->p;
    const size_t queries = attention_query_elements(p), keys = attention_key_elements(p);
    struct tensors x = backward_tensors(input, kept, dO);
    x.dQ = allocate(queries, sizeof(float), "dQ");
    x.dK = allocate(keys, sizeof(float), "dK");
    x.dV = allocate(keys, sizeof(float), "dV");
    struct count c = { .pairs = attention_pairs(p) };
    traffic_reset();
    watch_all(p, x);
    step->watched(p, size, x);
    step->predict(p, size, &c.accesses);

    c.as_predicted = accesses_sum(&c.accesses, step->formula, &c.total);
    c.slow_bytes = extra_slow_peak();
    c.fast_bytes = extra_fast_peak();
    traffic_reset();  // its arrays are forgotten
    free(x.dQ);
    free(x.dK);
    free(x.dV);
    return c;
}
