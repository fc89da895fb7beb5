#include "07_backward/fast/workspace.h"

#include "05_flash_tiled_cpu/fast/score.h"

#include <string.h>

static size_t rounded_up(size_t n)
{
    return (n + ROWS - 1) / ROWS * ROWS;
}

static bool may_attend_to_nothing(const struct attention *p)
{
    const struct band band = attention_band(p);
    const ptrdiff_t last = (ptrdiff_t)p->Nq - 1;
    return p->key_mask || p->block_mask || band.high < 0 || last + band.low >= (ptrdiff_t)p->Nk;
}

/* Two allocations: with one per array, page faults take a tenth of the time if N is small. */
struct workspace workspace_new(const struct attention *p, struct tile_size size)
{
    const size_t d = p->d, groups = (size.Bc - 1) / GROUP + 1, rows = rounded_up(size.Br);
    const bool has_masked_keys = p->key_mask || p->block_mask, dropout = p->dropout_threshold > 0;
    const bool copied = size.Br % ROWS != 0 || p->Nq % ROWS != 0 || may_attend_to_nothing(p);
    const size_t group_rows = groups * (keys_rows(d, has_masked_keys) + rows) +
                              (panel_count(d) + (dropout ? 3 : 2)) * rows;
    struct workspace w = {
        .room = extra_fast("tiles", group_rows * GROUP + (copied ? 2 * d + 2 : 2) * rows),
        .k = (struct keys *)extra_fast("groups", groups * sizeof *w.k / sizeof(float)),
    };
    group_row *left = (group_row *)w.room;
    for (size_t g = 0; g < groups; g++)
        w.k[g] = keys_new(&left, d, has_masked_keys);
    w.P = rows_take(&left, rows);
    w.Z = dropout ? rows_take(&left, rows) : NULL;
    w.dS = rows_take(&left, groups * rows);
    w.dQ = rows_take(&left, panel_count(d) * rows);
    w.mask = (visibility_row *)rows_take(&left, rows);
    w.lse = (float *)left;
    w.D = w.lse + rows;
    if (copied) {
        w.Q = w.D + rows;
        w.dO = w.Q + rows * d;
    }
    return w;
}

void workspace_free(struct workspace *w)
{
    extra_free((float *)w->k);
    extra_free(w->room);
}

/* lse is not enough: it is also -inf if all scores are. */
static bool attends_to_nothing(const struct backward_head *a, size_t i)
{
    if (a->lse[i] != -INFINITY)
        return false;
    for (size_t j = 0; j < a->p->Nk; j++)
        if (visible(a->p, a->b, a->h, i, j))
            return false;
    return true;
}

/* Copied unless `to` is NULL, with 0 past the last query and for queries without keys. */
static const float *rows_of(float *to, const float *from, const struct backward_head *a, size_t i0,
                            size_t rows)
{
    const size_t d = a->p->d;
    if (!to)
        return from + i0 * d;
    for (size_t r = 0; r < rounded_up(rows); r++)
        if (r < rows && !attends_to_nothing(a, i0 + r))
            memcpy(to + r * d, from + (i0 + r) * d, d * sizeof *to);
        else
            memset(to + r * d, 0, d * sizeof *to);
    return to;
}

/* With lse = +inf instead of -inf, e^{x - lse} is 0, not NaN. */
struct queries workspace_queries(struct workspace *w, const struct backward_head *a, const float *D,
                                 size_t i0, size_t rows)
{
    struct queries q = { rows_of(w->Q, a->Q, a, i0, rows), rows_of(w->dO, a->dO, a, i0, rows), i0,
                         rows, rounded_up(rows) };
    for (size_t r = 0; r < q.padded; r++) {
        const bool attends = r < rows && a->lse[i0 + r] != -INFINITY;
        w->lse[r] = attends ? a->lse[i0 + r] * 0x1.715476p0f : INFINITY;
        w->D[r] = attends ? D[i0 + r] : 0.0f;
    }
    return q;
}

/* Queries first … end - 1 of a tile; before first_full they attend only to the first vector. */
struct query_span {
    size_t first, first_full, end;
};

/* A (ROWS, d) times B (d, GROUP). */
INLINE struct block products(const float *A, const group_row *B, size_t d)
{
    return block_product((struct block){ 0 }, A, (ptrdiff_t)d, 1, B, d);
}

/* For B's first vector. */
INLINE struct block first_products(const float *A, const group_row *B, size_t d)
{
    return column_product(0, (struct block){ 0 }, A, (ptrdiff_t)d, 1, B, d);
}

/* P = e^{x - lse}, dS = P (dP - D); exponentials overlap with products. factor = scale log2(e). */
static void softmax_full(struct workspace *w, const struct keys *k, const struct queries *q,
                         size_t d, float factor, group_row *dS)
{
    for (size_t i = 0; i < q->padded; i += ROWS) {
        const struct block x = products(q->Q + i * d, (const group_row *)k->K, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                w->P[i + r][v] = vec_exp2(x.at[r][v] * factor - w->lse[i + r]);
        const struct block dP = products(q->dO + i * d, (const group_row *)k->V, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                dS[i + r][v] = w->P[i + r][v] * (dP.at[r][v] - w->D[i + r]);
    }
}

/* With masks and dropout; P is then P_drop. */
static void softmax_masked(struct workspace *w, const struct keys *k, const struct queries *q,
                           size_t d, float factor, group_row *dS, struct query_span s, bool dropout)
{
    const vec none = vec_of(0.0f);
    for (size_t i = s.first; i < s.end; i += ROWS) {
        const float *const Q = q->Q + i * d, *const dO = q->dO + i * d;
        const group_row *const K = (const group_row *)k->K, *const V = (const group_row *)k->V;
        const struct block x = i < s.first_full ? first_products(Q, K, d) : products(Q, K, d);
        const struct block dP = i < s.first_full ? first_products(dO, V, d) : products(dO, V, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++) {
                const vec Z = dropout ? w->Z[i + r][v] : vec_of(1.0f);
                const vec P = vec_exp2(x.at[r][v] * factor - w->lse[i + r]);
                const ivec mask = w->mask[i + r][v];
                w->P[i + r][v] = vec_pick(mask, P * Z, none);
                dS[i + r][v] = vec_pick(mask, P * (dP.at[r][v] * Z - w->D[i + r]), none);
            }
    }
}

/* With modified scores: dS includes their slope. Not inlined, to save the others' registers. */
__attribute__((noinline)) static void softmax_scored(struct workspace *w, const struct keys *k,
                                                     const struct backward_head *a,
                                                     const struct queries *q, group_row *dS,
                                                     struct query_span s, bool dropout)
{
    const size_t d = a->p->d;
    const ivec zero = { 0 };
    const int32_t last = (int32_t)(k->j0 + k->cols - 1);
    for (size_t i = s.first; i < s.end; i += ROWS) {
        const struct block x = products(q->Q + i * d, (const group_row *)k->K, d);
        const struct block dP = products(q->dO + i * d, (const group_row *)k->V, d);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++) {
                // padding repeats the last key or query; its weight is 0
                const ivec query = zero + (int32_t)(q->i0 + min(i + r, q->rows - 1));
                const ivec j = group_lanes(v) + (int32_t)k->j0;
                const ivec key = ((j > last) & last) | ((j <= last) & j);
                const struct vec_score score = vec_score(a->p, a->b, a->h, query, key, x.at[r][v]);
                const vec Z = dropout ? w->Z[i + r][v] : vec_of(1.0f);
                const vec P = vec_exp2(score.x * 0x1.715476p0f - w->lse[i + r]);
                const vec gradient = P * (dP.at[r][v] * Z - w->D[i + r]) * score.slope;
                const ivec mask = w->mask[i + r][v];
                w->P[i + r][v] = vec_pick(mask, P * Z, vec_of(0.0f));
                dS[i + r][v] = vec_pick(mask, gradient, vec_of(0.0f));
            }
    }
}

/* C += A^T X. In the first `narrow` rows, only X's first vector is not 0. */
static void add_to_keys(group_row *C, const float *A, const group_row *X, size_t narrow,
                        size_t rows, size_t d)
{
    size_t k = 0;
    for (; k + ROWS <= d; k += ROWS) {
        struct block c = column_product(0, (struct block){ 0 }, A + k, 1, (ptrdiff_t)d, X, narrow);
        c = block_product(c, A + narrow * d + k, 1, (ptrdiff_t)d, X + narrow, rows - narrow);
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                C[k + (size_t)r][v] += c.at[r][v];
    }
    for (; k < d; k++)  // fewer than ROWS left
        for (int v = 0; v < COLUMNS; v++) {
            vec sum = vec_of(0.0f);
            for (size_t r = 0; r < rows; r++)
                sum += A[r * d + k] * X[r][v];
            C[k][v] += sum;
        }
}

/* In blocks of ROWS. On a causal diagonal, most attend to no key, all, or the first vector. */
static struct query_span queries_that_attend(const struct workspace *w, const struct queries *q)
{
    struct query_span s = { 0, 0, q->padded };
    while (s.first < s.end && !visible_to_any(w->mask[s.first]))
        s.first++;
    while (s.end > s.first && !visible_to_any(w->mask[s.end - 1]))
        s.end--;
    s.first_full = s.first = s.first / ROWS * ROWS;
    while (s.first_full < s.end && !visible_outside(0, w->mask[s.first_full]))
        s.first_full++;
    return (struct query_span){ s.first, s.first_full / ROWS * ROWS, rounded_up(s.end) };
}

/* For dQ = dS K: first, end and selected; keys that no query attends to may be NaN, so become 0. */
static void select_keys(const struct workspace *w, struct keys *k, size_t rows, size_t d)
{
    visibility_row any = { { 0 } };
    bool has_masked_keys = false;
    for (size_t r = 0; r < rows; r++)
        for (int v = 0; v < COLUMNS; v++)
            any[v] |= w->mask[r][v];
    const int32_t *const lane = (const int32_t *)any;
    k->first = 0;
    k->end = k->cols;
    while (k->first < k->end && lane[k->first] == 0)
        k->first++;
    while (k->end > k->first && lane[k->end - 1] == 0)
        k->end--;
    for (size_t c = k->first; c < k->end; c++)
        has_masked_keys |= lane[c] == 0;
    k->selected = (const group_row *)(has_masked_keys ? k->with_zeros : k->K_rows);
    if (!has_masked_keys)
        return;
    memcpy(k->with_zeros, k->K_rows, panel_count(d) * GROUP * sizeof *k->K_rows);
    for (size_t n = 0; n < panel_count(d) * GROUP; n++)
        if (n % GROUP < k->cols && lane[n % GROUP] == 0)
            memset(&k->with_zeros[n], 0, sizeof k->with_zeros[n]);
}

void workspace_process(struct workspace *w, size_t g, const struct backward_head *a,
                       const struct queries *q)
{
    const struct attention *p = a->p;
    struct keys *const k = &w->k[g];
    group_row *const dS = w->dS + g * q->padded;
    const float factor = p->scale * 0x1.715476p0f;
    const enum tile_kind kind =
        tile_kind(p, a->b, a->h, q->i0, q->i0 + q->rows, k->j0, k->j0 + k->cols);
    const bool dropout = p->dropout_threshold > 0;
    k->selected = NULL;
    if (kind == TILE_SKIPPED)
        return;
    struct query_span s = { 0, 0, q->padded };
    const bool full = k->cols == GROUP && q->rows == q->padded;  // else padding computes 0 * inf
    if (kind == TILE_FULL && full && !dropout && !score_option(p)) {
        softmax_full(w, k, q, p->d, factor, dS);
        k->selected = (const group_row *)k->K_rows;
        k->first = 0;
        k->end = GROUP;
    } else {
        keys_visible(w->mask, k, a, q->i0, q->rows);
        memset(w->mask + q->rows, 0, (q->padded - q->rows) * sizeof *w->mask);
        s = queries_that_attend(w, q);
        if (dropout)
            keys_dropout_factors(w->Z, k, a, q->i0, q->rows);
        if (score_option(p))
            softmax_scored(w, k, a, q, dS, s, dropout);
        else
            softmax_masked(w, k, q, p->d, factor, dS, s, dropout);
        select_keys(w, k, q->rows, p->d);
    }
    k->q_first = s.first;
    k->q_end = s.end;
    const group_row *const P = (const group_row *)w->P + s.first;
    const size_t narrow = s.first_full - s.first, n = s.end - s.first;
    add_to_keys(k->dV, q->dO + s.first * p->d, P, narrow, n, p->d);
    add_to_keys(k->dK, q->Q + s.first * p->d, (const group_row *)dS + s.first, narrow, n, p->d);
}

void workspace_end(struct workspace *w, const struct queries *q, size_t d)
{
    for (size_t n = 0; n < panel_count(d); n++)
        for (size_t i = 0; i < q->padded; i += ROWS) {
            struct block c = { 0 };
            for (size_t g = 0; g < w->groups; g++) {
                const struct keys *const k = &w->k[g];
                const float *const dS = (const float *)(w->dS + g * q->padded + i);
                if (k->selected && i >= k->q_first && i < k->q_end)
                    c = block_product(c, dS + k->first, GROUP, 1,
                                      k->selected + n * GROUP + k->first, k->end - k->first);
            }
            memcpy(w->dQ + n * q->padded + i, &c, sizeof c);
        }
}
