/*
 * All of it, on all cores: every option, fa2's five products with vectors, and the same bits always.
 *
 * A task is a tile of keys: dK and dV are its own, also where several query heads share the keys. All tasks
 * of a head add to its dQ. A sum of floats depends on its order, so the order is fixed: to the queries of tile
 * i, keys are added from the first tile to the last. Each tile of queries has a counter, `turn`, of the key tiles
 * that have been added. A task works out what it has to add on its own, waits until it is its turn, adds, and
 * passes the turn on. All tasks go through the queries in the same direction, so they follow one another like
 * walkers on a path, and after the first step hardly ever wait. Tasks are taken in the order of their keys: the
 * task that another waits for has always been taken before, so the first of them can go on.
 *
 * So the result is the same bit for bit for any number of threads, one head is work for all of them, and there
 * are 5 products, not split's 7. Beside D and the turns, memory is a few tiles a thread.
 */
#define _POSIX_C_SOURCE 200809L  // for sched_yield
#include "memory.h"
#include "threads.h"
#include "workplace.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 20000 };  // looks at the turn: some tens of microseconds, about a tile's work

/* What all threads share: the problem, and of every tile of queries whose turn it is. */
struct work_list {
    const struct attention *p;
    struct tile_size size;
    struct backward_input in;
    struct gradients out;
    float *D;
    atomic_size_t *turn;  // (B, H, Tr)
};

/* Adds the tile's dQ, times the scale, to that in slow memory. */
static void add_dQ(const struct workplace *w, const struct backward_head *a,
                   const struct queries *q)
{
    const size_t d = a->p->d;
    for (size_t k = 0; k < d; k += LANES) {
        const size_t n = k / GROUP, v = k % GROUP / LANES;  // panel n, and which vector of its rows
        for (size_t r = 0; r < q->rows; r++) {
            float *const dQ = a->dQ + (q->i0 + r) * d + k;
            const vec sum = vec_load_some(dQ, d - k) + a->p->scale * w->dQ[n * q->padded + r][v];
            vec_store_some(dQ, sum, d - k);
        }
    }
}

/* Waits a while at the ready, as it is seldom long; then lets others have the core now and then. */
static void wait_for(atomic_size_t *turn, size_t place)
{
    for (unsigned asked = 1; atomic_load_explicit(turn, memory_order_acquire) != place; asked++)
        if (asked % PATIENCE == 0)
            sched_yield();
}

/* A tile of queries of one head past the tile of keys from j0 on, which is in w->k. */
static void do_tile(struct work_list *list, struct workplace *w, const struct backward_head *a,
                    size_t i0, size_t j0, size_t cols)
{
    const struct attention *p = list->p;
    const size_t d = p->d, head = a->b * p->H + a->h, rows = smaller(list->size.Br, p->Nq - i0);
    const size_t Tr = (p->Nq - 1) / list->size.Br + 1, place = j0 / list->size.Bc;
    atomic_size_t *const turn = &list->turn[head * Tr + i0 / list->size.Br];
    const bool seen = tile_kind(p, a->b, a->h, i0, i0 + rows, j0, j0 + cols) != TILE_SKIPPED;
    struct queries q;
    if (seen) {
        count_loads(a->Q + i0 * d, rows * d);
        count_loads(a->dO + i0 * d, rows * d);
        count_loads(a->lse + i0, rows);
        count_loads(list->D + head * p->Nq + i0, rows);
        work_products(10 * rows * cols * d);
        q = workplace_queries(w, a, list->D + head * p->Nq, i0, rows);
        for (size_t g = 0; g < w->groups; g++)
            workplace_see(w, g, a, &q);
        workplace_end(w, &q, d);
    }
    wait_for(turn, place);
    if (seen) {
        count_loads(a->dQ + i0 * d, rows * d);
        count_stores(a->dQ + i0 * d, rows * d);
        add_dQ(w, a, &q);
    }
    atomic_store_explicit(turn, place + 1, memory_order_release);
}

/* A tile of keys, past all queries of the heads that share it. */
static void do_task(struct work_list *list, struct workplace *w, size_t n, size_t j0)
{
    const struct attention *p = list->p;
    const size_t group = p->H / p->Hkv, cols = smaller(list->size.Bc, p->Nk - j0);
    const size_t first = n / p->Hkv * p->H + n % p->Hkv * group;
    const struct backward_head keys = backward_head_of(p, first, list->in, list->out);
    count_loads(keys.K + j0 * p->d, cols * p->d);
    count_loads(keys.V + j0 * p->d, cols * p->d);
    w->groups = (cols - 1) / GROUP + 1;
    for (size_t g = 0; g < w->groups; g++)
        keys_begin(&w->k[g], &keys, j0 + g * GROUP, smaller(GROUP, cols - g * GROUP));
    for (size_t head = first; head < first + group; head++) {
        const struct backward_head a = backward_head_of(p, head, list->in, list->out);
        for (size_t i0 = 0; i0 < p->Nq; i0 += list->size.Br)
            do_tile(list, w, &a, i0, j0, cols);
    }
    for (size_t g = 0; g < w->groups; g++)
        keys_end(&w->k[g], &keys);
    count_stores(keys.dK + j0 * p->d, cols * p->d);
    count_stores(keys.dV + j0 * p->d, cols * p->d);
}

/* D of query `row` of all heads, and its dQ = 0. */
static void begin_row(struct work_list *list, size_t row)
{
    const size_t d = list->p->d;
    const float *const O = list->in.O + row * d, *const dO = list->in.dO + row * d;
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
    memset(list->out.dQ + row * d, 0, d * sizeof(float));
    count_loads(O, d);
    count_loads(dO, d);
    count_stores(&list->D[row], 1);
    count_stores(list->out.dQ + row * d, d);
}

void backward_complete(const struct attention *p, struct tile_size size, struct backward_input in,
                       struct gradients out)
{
    const size_t heads = p->B * p->Hkv, rows = attention_rows(p);
    size.Br = smaller(size.Br, p->Nq);
    size.Bc = smaller(size.Bc, p->Nk);
    const size_t Tr = (p->Nq - 1) / size.Br + 1, Tc = (p->Nk - 1) / size.Bc + 1;
    struct work_list list = { .p = p, .size = size, .in = in, .out = out };
    list.D = extra_slow("D", rows);
    list.turn = allocate(p->B * p->H * Tr, sizeof *list.turn, "the turns");
    for (size_t n = 0; n < p->B * p->H * Tr; n++)
        atomic_init(&list.turn[n], 0);
    atomic_size_t next;  // the task that nobody has taken
    atomic_init(&next, 0);

    PARALLEL(omp parallel)
    {
        struct workplace w = workplace_new(p, size);
        PARALLEL(omp for)
        for (size_t row = 0; row < rows; row++)
            begin_row(&list, row);
        for (size_t task; (task = atomic_fetch_add(&next, 1)) < heads * Tc;)
            do_task(&list, &w, task % heads, task / heads * size.Bc);
        workplace_free(&w);
    }
    free(list.turn);
    extra_free(list.D);
}
