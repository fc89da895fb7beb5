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
#include "keys.h"
#include "threads.h"

#include "memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What all threads share: the problem, and of every tile of queries whose turn it is. */
struct work_list {
    const struct attention *p;
    struct tile_size size;
    struct backward_input in;
    struct gradients out;
    float *D;
    atomic_size_t *turn, next;  // turn: (B, H, Tr); next: the task that nobody has taken
};

/* The fast memory of a thread: a tile of keys in groups, and of a tile of queries what one group needs. */
struct workplace {
    struct keys *k;
    group_row *P, *dS, *Z;  // a row for each query
    group_row *dQ;          // panel n, query r at [n rows + r]
    group_row *rows;        // as in struct keys, without the keys that nobody sees
    seen_row *seen;
    float *Q, *dO, *L, *D;  // the last queries, filled up to a multiple of ROWS
};

static size_t rounded_up(size_t n)
{
    return (n + ROWS - 1) / ROWS * ROWS;
}

static struct workplace workplace_new(struct tile_size size, size_t d)
{
    const size_t groups = (size.Bc - 1) / GROUP + 1, rows = rounded_up(size.Br);
    struct workplace w = {
        .k = (struct keys *)extra_fast("groups", groups * sizeof *w.k / sizeof(float)),
        .P = group_rows_new(rows),
        .dS = group_rows_new(rows),
        .Z = group_rows_new(rows),
        .dQ = group_rows_new(panels_of(d) * rows),
        .rows = group_rows_new(panels_of(d) * GROUP),
        .seen = seen_new(rows),
        .Q = extra_fast("a tile of Q", rows * d),
        .dO = extra_fast("a tile of dO", rows * d),
        .L = extra_fast("a tile of L", rows),
        .D = extra_fast("a tile of D", rows),
    };
    for (size_t g = 0; g < groups; g++)
        w.k[g] = keys_new(d);
    return w;
}

static void workplace_free(struct workplace *w, struct tile_size size)
{
    for (size_t g = 0; g < (size.Bc - 1) / GROUP + 1; g++)
        keys_free(&w->k[g]);
    float *const all[] = { (float *)w->k,
                           (float *)w->P,
                           (float *)w->dS,
                           (float *)w->Z,
                           (float *)w->dQ,
                           (float *)w->rows,
                           (float *)w->seen,
                           w->Q,
                           w->dO,
                           w->L,
                           w->D };
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        extra_free(all[n]);
}

// ---- a tile -------------------------------------------------------------------------------------

/* A tile of queries as the products want it: whole blocks of rows; L times log2(e), and D. */
struct queries {
    const float *Q, *dO;
    size_t i0, rows, padded;
};

static const float *padded(float *to, const float *from, size_t rows, size_t d)
{
    if (rows % ROWS == 0)
        return from;
    memcpy(to, from, rows * d * sizeof *to);
    memset(to + rows * d, 0, (rounded_up(rows) - rows) * d * sizeof *to);
    return to;
}

/* Of a query that sees nothing L is -inf; with +inf instead, every e^{x - L} of it is 0 and not NaN. */
static struct queries queries_of(struct workplace *w, const struct backward_head *a, const float *D,
                                 size_t i0, size_t rows)
{
    const size_t d = a->p->d;
    struct queries q = { padded(w->Q, a->Q + i0 * d, rows, d),
                         padded(w->dO, a->dO + i0 * d, rows, d), i0, rows, rounded_up(rows) };
    for (size_t r = 0; r < q.padded; r++) {
        const float L = r < rows ? a->lse[i0 + r] : -INFINITY;
        w->L[r] = L == -INFINITY ? INFINITY : L * 0x1.715476p0f;
        w->D[r] = r < rows ? D[i0 + r] : 0.0f;
    }
    return q;
}

/* Row r of C: the products of row r of A with all keys of B. */
static void products(group_row *C, const float *A, const group_row *B, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        const struct block c = block_product((struct block){ 0 }, A + r * d, (ptrdiff_t)d, 1, B, d);
        memcpy(C + r, &c, sizeof c);
    }
}

/* P holds scores, unscaled, and dS holds dP: they become P and dS. */
static void weigh(struct workplace *w, float factor, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++) {
            w->P[r][v] = vec_exp2(w->P[r][v] * factor - w->L[r]);
            w->dS[r][v] = w->P[r][v] * (w->dS[r][v] - w->D[r]);
        }
}

/* The same where some pairs do not count, and with dropout: P is P_drop then. */
static void weigh_seen(struct workplace *w, float factor, size_t rows, bool dropout)
{
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++) {
            const vec none = vec_of(0.0f), Z = dropout ? w->Z[r][v] : vec_of(1.0f);
            const vec P = vec_exp2(w->P[r][v] * factor - w->L[r]);
            const vec dS = P * (w->dS[r][v] * Z - w->D[r]);
            w->P[r][v] = vec_pick(w->seen[r][v], P * Z, none);
            w->dS[r][v] = vec_pick(w->seen[r][v], dS, none);
        }
}

/* C += A^T X: element k of a query, times its row of X, is added to row k of C. */
static void add_to_keys(group_row *C, const float *A, const group_row *X, size_t rows, size_t d)
{
    size_t k = 0;
    for (; k + ROWS <= d; k += ROWS) {
        const struct block c = block_product((struct block){ 0 }, A + k, 1, (ptrdiff_t)d, X, rows);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                C[k + (size_t)r][v] += c.at[r][v];
    }
    for (; k < d; k++)  // fewer than ROWS are left
        for (int v = 0; v < COLUMNS; v++) {
            vec sum = vec_of(0.0f);
            for (size_t r = 0; r < rows; r++)
                sum += A[r * d + k] * X[r][v];
            C[k][v] += sum;
        }
}

/* dQ += dS K, panel by panel. */
static void add_to_queries(group_row *dQ, const group_row *dS, const group_row *K, size_t rows,
                           size_t cols, size_t d)
{
    for (size_t n = 0; n < panels_of(d); n++)
        for (size_t r = 0; r < rows; r += ROWS) {
            const struct block c = block_product((struct block){ 0 }, (const float *)(dS + r),
                                                 GROUP, 1, K + n * GROUP, cols);
            for (size_t k = 0; k < ROWS; k++)
                for (int v = 0; v < COLUMNS; v++)
                    dQ[n * rows + r + k][v] += c.at[k][v];
        }
}

/* K as it lies, with zeros for a key that none of the queries sees: there may be NaN. */
static const group_row *rows_seen(struct workplace *w, const struct keys *k, size_t rows, size_t d)
{
    seen_row any = { { 0 } };
    bool holes = false;
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++)
            any[v] |= w->seen[r][v];
    const int32_t *const lane = (const int32_t *)any;
    for (size_t c = 0; c < k->cols; c++)
        holes |= lane[c] == 0;
    if (!holes)
        return (const group_row *)k->rows;
    memcpy(w->rows, k->rows, panels_of(d) * GROUP * sizeof *w->rows);
    for (size_t n = 0; n < panels_of(d) * GROUP; n++)
        if (n % GROUP < k->cols && lane[n % GROUP] == 0)
            memset(&w->rows[n], 0, sizeof w->rows[n]);
    return (const group_row *)w->rows;
}

/* fa2's inner step for a tile of queries and a group of keys. */
static void see(struct workplace *w, struct keys *k, const struct backward_head *a,
                const struct queries *q)
{
    const struct attention *p = a->p;
    const size_t d = p->d;
    const float factor = p->scale * 0x1.715476p0f;
    const group_row *K = (const group_row *)k->rows;
    const enum tile_kind kind =
        tile_kind(p, a->b, a->h, q->i0, q->i0 + q->rows, k->j0, k->j0 + k->cols);
    const bool dropout = p->dropout_threshold > 0;
    if (kind == TILE_SKIPPED)
        return;
    products(w->P, q->Q, (const group_row *)k->K, q->padded, d);
    products(w->dS, q->dO, (const group_row *)k->V, q->padded, d);
    if (kind == TILE_WHOLE && k->cols == GROUP && !dropout) {
        weigh(w, factor, q->padded);
    } else {
        keys_seen(w->seen, k, a, q->i0, q->rows);
        memset(w->seen + q->rows, 0, (q->padded - q->rows) * sizeof *w->seen);
        if (dropout)
            keys_kept(w->Z, k, a, q->i0, q->rows);
        weigh_seen(w, factor, q->padded, dropout);
        K = rows_seen(w, k, q->rows, d);
    }
    add_to_keys(k->dV, q->dO, (const group_row *)w->P, q->padded, d);
    add_to_keys(k->dK, q->Q, (const group_row *)w->dS, q->padded, d);
    add_to_queries(w->dQ, (const group_row *)w->dS, K, q->padded, k->cols, d);
}

/* Adds the tile's dQ, times the scale, to that in slow memory. */
static void add_dQ(const struct workplace *w, const struct backward_head *a,
                   const struct queries *q)
{
    const size_t d = a->p->d;
    for (size_t n = 0; n < panels_of(d); n++)
        for (size_t r = 0; r < q->rows; r++) {
            const float *const from = (const float *)(w->dQ + n * q->padded + r);
            float *const to = a->dQ + (q->i0 + r) * d + n * GROUP;
            for (size_t c = 0; c < smaller(GROUP, d - n * GROUP); c++)
                to[c] += a->p->scale * from[c];
        }
}

// ---- tasks --------------------------------------------------------------------------------------

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
        q = queries_of(w, a, list->D + head * p->Nq, i0, rows);
        memset(w->dQ, 0, panels_of(d) * q.padded * sizeof *w->dQ);
        for (size_t g = 0; g * GROUP < cols; g++)
            see(w, &w->k[g], a, &q);
    }
    while (atomic_load_explicit(turn, memory_order_acquire) != place)
        sched_yield();
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
    for (size_t g = 0; g * GROUP < cols; g++)
        keys_begin(&w->k[g], &keys, j0 + g * GROUP, smaller(GROUP, cols - g * GROUP));
    for (size_t head = first; head < first + group; head++) {
        const struct backward_head a = backward_head_of(p, head, list->in, list->out);
        for (size_t i0 = 0; i0 < p->Nq; i0 += list->size.Br)
            do_tile(list, w, &a, i0, j0, cols);
    }
    for (size_t g = 0; g * GROUP < cols; g++)
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
    atomic_init(&list.next, 0);

    PARALLEL(omp parallel)
    {
        struct workplace w = workplace_new(size, p->d);
        PARALLEL(omp for)
        for (size_t row = 0; row < rows; row++)
            begin_row(&list, row);
        for (size_t task; (task = atomic_fetch_add(&list.next, 1)) < heads * Tc;)
            do_task(&list, &w, task % heads, task / heads * size.Bc);
        workplace_free(&w, size);
    }
    free(list.turn);
    extra_free(list.D);
}
