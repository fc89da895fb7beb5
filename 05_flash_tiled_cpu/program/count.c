/*
 * The closed forms of every step's accesses, and watched runs to hold against them.
 */
#include "05_flash_tiled_cpu/program/chapter.h"

#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "common/cpu/memory.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys from `begin` to before `end`, in tiles from `begin` on, are added to the counts. */
static void count_keys(const struct attention *p, size_t n, size_t i0, size_t rows, size_t begin,
                       size_t end, size_t Bc, struct tile_counts *counts)
{
    for (size_t j0 = begin; j0 < end; j0 += Bc) {
        const size_t cols = min(Bc, end - j0);
        const enum tile_kind kind = tile_kind(p, n / p->H, n % p->H, i0, i0 + rows, j0, j0 + cols);
        counts->of_kind[kind]++;
        counts->keys += kind == TILE_SKIPPED ? 0 : cols;
    }
}

struct tile_counts count_tiles_in_splits(const struct attention *p, struct tile_size size,
                                         size_t count)
{
    const struct splits splits = { .count = count };
    struct tile_counts counts = { { 0 }, 0 };
    for (size_t n = 0; n < p->B * p->H; n++)
        for (size_t i0 = 0; i0 < p->Nq; i0 += size.Br)
            for (size_t s = 0; s < count; s++)
                count_keys(p, n, i0, min(size.Br, p->Nq - i0), splits_begin(&splits, p, s),
                           splits_begin(&splits, p, s + 1), size.Bc, &counts);
    return counts;
}

struct tile_counts count_tiles(const struct attention *p, struct tile_size size)
{
    return count_tiles_in_splits(p, size, 1);
}

// ---- predictions --------------------------------------------------------------------------------

void predict_standard(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq, pairs = rows * p->Nk;
    const size_t keys = heads * ceil_div(p->Nq, size.Br) * p->Nk;
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "K loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "S stores", pairs, "Nq Nk");
    accesses_add(a, "S loads", 3 * pairs, "3 Nq Nk");
    accesses_add(a, "P stores", pairs, "Nq Nk");
    accesses_add(a, "P loads", pairs, "Nq Nk");
    accesses_add(a, "V loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "O stores", rows * p->d, "Nq d");
}

void predict_block_matmul(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq;
    const size_t keys = heads * ceil_div(p->Nq, size.Br) * p->Nk;
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "K loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "V loads", keys * p->d, "Tr Nk d");
    accesses_add(a, "O stores", rows * p->d, "Nq d");
}

void predict_fa1(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t heads = p->B * p->H, rows = heads * p->Nq, Tc = ceil_div(p->Nk, size.Bc);
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

/* Q outside, `keys` keys of all the tiles that are not skipped. */
static void with_keys(const struct attention *p, size_t keys, const char *formula,
                      struct accesses *a)
{
    const size_t rows = attention_rows(p);
    accesses_add(a, "Q loads", rows * p->d, "Nq d");
    accesses_add(a, "K loads", keys * p->d, formula);
    accesses_add(a, "V loads", keys * p->d, formula);
    accesses_add(a, "O stores", rows * p->d, "Nq d");
    accesses_add(a, "lse stores", rows, "Nq");
}

void predict_fa2(const struct attention *p, struct tile_size size, struct accesses *a)
{
    with_keys(p, p->B * p->H * ceil_div(p->Nq, size.Br) * p->Nk, "Tr Nk d", a);
}

void predict_masks(const struct attention *p, struct tile_size size, struct accesses *a)
{
    with_keys(p, count_tiles(p, size).keys, "tiles' keys d", a);
}

void predict_split_kv(const struct attention *p, struct tile_size size, struct accesses *a)
{
    const size_t splits = split_count(p), rows = attention_rows(p);
    const size_t keys = count_tiles_in_splits(p, size, splits).keys;
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

// ---- counting -----------------------------------------------------------------------------------

bool is_small(const struct attention *p)
{
    return 2.0 * (double)attention_rows(p) * (double)p->Nk * (double)p->d <= 2e8;
}

bool can_be_counted(const struct step *step, const struct attention *p)
{
    return CAN_WATCH && step->runs->watched && is_small(p);
}

struct count count_step(const struct step *step, const struct attention_input *input,
                        struct tile_size size)
{
    const struct attention *p = &input->p;
    const size_t n = attention_query_elements(p), rows = attention_rows(p);
    float *O = allocate(n, sizeof *O, "O"), *lse = allocate(rows, sizeof *lse, "lse");
    struct count c = { .pairs = attention_pairs(p) };
    traffic_reset();
    traffic_watch("Q", input->Q, n);
    traffic_watch("K", input->K, attention_key_elements(p));
    traffic_watch("V", input->V, attention_key_elements(p));
    traffic_watch("O", O, n);
    traffic_watch("lse", lse, rows);
    step->runs->watched(p, size, input->Q, input->K, input->V, O, lse);
    step->predict(p, size, &c.accesses);

    c.as_predicted = accesses_sum(&c.accesses, step->formula, &c.total);
    c.slow_bytes = extra_slow_peak();
    c.fast_bytes = extra_fast_peak();
    traffic_reset();  // its arrays are forgotten
    free(lse);
    free(O);
    return c;
}
