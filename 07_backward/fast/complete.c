/*
 * Every option on all cores: fa2's five products, vectorised, bitwise reproducible.
 *
 * A task is a tile of keys, for all query heads that share it. It visits queries from last to
 * first, as the last attend to all keys even under a causal mask. Tasks add to a tile of dQ in key
 * order, and wait only for tasks started before them, so there is no deadlock.
 */
#define _POSIX_C_SOURCE 200809L  // sched_yield
#include "07_backward/fast/workspace.h"
#include "common/cpu/memory.h"
#include "common/cpu/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS_BEFORE_YIELD = 20000 };  // about a tile's work

struct work_list {
    const struct attention *p;
    struct tile_size size;
    size_t Tr, Tc;  // tiles of queries, i, and of keys, j
    struct tensors x;
    float *D;
    atomic_size_t *turn;  // (B, H, Tr): next key tile to add, or Tc
};

static bool attends(const struct work_list *list, const struct backward_head *a, size_t i, size_t j)
{
    const struct attention *p = list->p;
    const size_t i0 = i * list->size.Br, j0 = j * list->size.Bc;
    return tile_kind(p, a->b, a->h, i0, min(i0 + list->size.Br, p->Nq), j0,
                     min(j0 + list->size.Bc, p->Nk)) != TILE_SKIPPED;
}

/* The first key tile >= j that query tile i attends to, or Tc. */
static size_t next_attended_tile(const struct work_list *list, const struct backward_head *a,
                                 size_t i, size_t j)
{
    while (j < list->Tc && !attends(list, a, i, j))
        j++;
    return j;
}

static void add_dQ(const struct workspace *w, const struct backward_head *a,
                   const struct queries *q)
{
    const size_t d = a->p->d;
    const float factor = gradient_factor(a->p);
    for (size_t k = 0; k < d; k += LANES) {
        const size_t n = k / GROUP, v = k % GROUP / LANES;  // panel, vector in it
        for (size_t r = 0; r < q->rows; r++) {
            float *const dQ = a->dQ + (q->i0 + r) * d + k;
            const vec sum = vec_load_some(dQ, d - k) + factor * w->dQ[n * q->padded + r][v];
            vec_store_some(dQ, sum, d - k);
        }
    }
}

/* Spins, as most waits are short, then yields. */
static void wait_for(atomic_size_t *turn, size_t place)
{
    for (unsigned spins = 1; atomic_load_explicit(turn, memory_order_acquire) != place; spins++)
        if (spins % SPINS_BEFORE_YIELD == 0)
            sched_yield();
}

static void do_tile(struct work_list *list, struct workspace *w, const struct backward_head *a,
                    size_t i, size_t j)
{
    const struct attention *p = list->p;
    const size_t d = p->d, head = a->b * p->H + a->h, i0 = i * list->size.Br;
    const size_t rows = min(list->size.Br, p->Nq - i0);
    const struct queries q = workspace_queries(w, a, list->D + head * p->Nq, i0, rows);
    for (size_t g = 0; g < w->groups; g++)
        workspace_process(w, g, a, &q);
    workspace_end(w, &q, d);

    atomic_size_t *const turn = &list->turn[head * list->Tr + i];
    const size_t next_tile = next_attended_tile(list, a, i, j + 1);
    wait_for(turn, j);
    add_dQ(w, a, &q);
    atomic_store_explicit(turn, next_tile, memory_order_release);
}

/* Key tile j of key/value head n. */
static void do_task(struct work_list *list, struct workspace *w, size_t n, size_t j)
{
    const struct attention *p = list->p;
    const size_t heads_per_kv = p->H / p->Hkv, j0 = j * list->size.Bc;
    const size_t cols = min(list->size.Bc, p->Nk - j0);
    const size_t first = n / p->Hkv * p->H + n % p->Hkv * heads_per_kv;
    const struct backward_head keys = backward_head_of(p, first, list->x);
    w->groups = (cols - 1) / GROUP + 1;
    for (size_t g = 0; g < w->groups; g++)
        keys_begin(&w->k[g], &keys, j0 + g * GROUP, min(GROUP, cols - g * GROUP));
    for (size_t head = first; head < first + heads_per_kv; head++) {
        const struct backward_head a = backward_head_of(p, head, list->x);
        for (size_t i = list->Tr; i-- > 0;)
            if (attends(list, &a, i, j))
                do_tile(list, w, &a, i, j);
    }
    for (size_t g = 0; g < w->groups; g++)
        keys_end(&w->k[g], &keys);
}

static void begin_row(struct work_list *list, size_t row)
{
    const size_t d = list->p->d;
    const float *const O = list->x.O + row * d, *const dO = list->x.dO + row * d;
    vec sums = { 0.0f };
    float D = 0.0f;
    size_t k = 0;
    for (; k + LANES <= d; k += LANES)
        sums += vec_load(dO + k) * vec_load(O + k);
    for (; k < d; k++)
        D += dO[k] * O[k];
    for (int lane = 0; lane < LANES; lane++)
        D += sums[lane];
    list->D[row] = D;
    memset(list->x.dQ + row * d, 0, d * sizeof(float));
}

static void begin_tile(struct work_list *list, size_t tile)
{
    const struct attention *p = list->p;
    const size_t head = tile / list->Tr, i = tile % list->Tr, i0 = i * list->size.Br;
    const struct backward_head a = backward_head_of(p, head, list->x);
    for (size_t r = i0; r < min(i0 + list->size.Br, p->Nq); r++)
        begin_row(list, head * p->Nq + r);
    atomic_init(&list->turn[tile], next_attended_tile(list, &a, i, 0));
}

void backward_complete(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t kv_heads = p->B * p->Hkv;
    size.Br = min(size.Br, p->Nq);
    size.Bc = min(size.Bc, p->Nk);
    struct work_list list = { .p = p, .size = size, .x = x };
    list.Tr = (p->Nq - 1) / size.Br + 1;
    list.Tc = (p->Nk - 1) / size.Bc + 1;
    list.D = extra_slow("D", attention_rows(p));
    list.turn = allocate(p->B * p->H * list.Tr, sizeof *list.turn, "the turns");
    atomic_size_t next_task;
    atomic_init(&next_task, 0);

    PARALLEL(omp parallel)
    {
        struct workspace w = workspace_new(p, size);
        PARALLEL(omp for)
        for (size_t tile = 0; tile < p->B * p->H * list.Tr; tile++)
            begin_tile(&list, tile);
        for (size_t task; (task = atomic_fetch_add(&next_task, 1)) < kv_heads * list.Tc;)
            do_task(&list, &w, task / list.Tc, task % list.Tc);
        workspace_free(&w);
    }
    free(list.turn);
    extra_free(list.D);
}
