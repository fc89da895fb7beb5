/*
 * Chapter 04's two algorithms as steps, for its binding: its program has no table.
 */
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/standard_attention.h"
#include "common/lab/lab.h"

static void standard(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    for (size_t head = 0; head < p->B * p->H; head++) {
        const size_t queries = head * p->Nq * p->d;
        const size_t keys = (head / p->H * p->Hkv + kv_head(p, head % p->H)) * p->Nk * p->d;
        standard_attention(x.Q + queries, x.K + keys, x.V + keys, x.O + queries, p->Nq, p->Nk, p->d,
                           p->scale);
    }
}

static void no_tiling(const struct attention *p, struct tile_size size, struct tensors x)
{
    (void)size;
    flash_no_tiling(p, x.Q, x.K, x.V, x.O, x.lse);
}

static const struct step steps[] = {
    {
        .name = "standard_attention",
        .idea = "S and P stored whole",
        .run = standard,
        .usual = { 1, 1 },
        .supports = SUPPORTS_GROUPED_HEADS,
        .stores = STORES_SCORES,
    },
    {
        .name = "flash_no_tiling",
        .idea = "one pass over the keys for each query",
        .run = no_tiling,
        .usual = { 1, 1 },
        .supports = SUPPORTS_GROUPED_HEADS | SUPPORTS_MASKS | SUPPORTS_LSE,
    },
};

static const struct step_table table = { .steps = steps, .count = sizeof steps / sizeof steps[0] };
const struct chapter chapter = { .table = &table };
