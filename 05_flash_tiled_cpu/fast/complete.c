/*
 * Every option, as fast as overlap, on all cores.
 *
 * A task is a head, a tile of queries and a split of the keys; tiles with the most keys start
 * first. Threads share no sum, so their number does not change the result.
 */
#include "05_flash_tiled_cpu/fast/overlap.h"
#include "05_flash_tiled_cpu/fast/score.h"
#include "05_flash_tiled_cpu/fast/vec_philox.h"
#include "05_flash_tiled_cpu/fast/visibility.h"
#include "05_flash_tiled_cpu/steps/split_kv.h"
#include "common/cpu/threads.h"

#include <stdbool.h>

struct workspace {
    struct group *g;
    size_t groups;
    group_row *P;
    visibility_row *mask;
    float *V;  // NULL without a key or block mask
    float *O;  // NULL without splits
};

/* V and O only if p needs them: for short sequences, allocation takes 10 % of the time. */
static struct workspace workspace_new(const struct attention *p, struct tile_size size, bool splits)
{
    const size_t groups = (size.Br - 1) / GROUP + 1, d = p->d;
    const bool has_masked_keys = p->key_mask || p->block_mask;
    struct workspace w = {
        .g = (struct group *)extra_fast("groups", groups * sizeof *w.g / sizeof(float)),
        .groups = groups,
        .P = group_rows_new(size.Bc + ROWS),
        .mask = visibility_new(size.Bc),
        .V = has_masked_keys ? extra_fast("a tile of V", size.Bc * d) : NULL,
        .O = splits ? extra_fast("rows of O", GROUP * d) : NULL,
    };
    for (size_t k = 0; k < groups; k++)
        w.g[k] = group_new(d);
    return w;
}

static void workspace_free(struct workspace *w)
{
    for (size_t k = 0; k < w->groups; k++)
        group_free(&w->g[k]);
    extra_free((float *)w->g);
    extra_free((float *)w->P);
    extra_free((float *)w->mask);
    extra_free(w->V);
    extra_free(w->O);
}

/* One Philox call decides for four keys, as in dropout_keeps. */
static void apply_dropout(group_row *P, const struct group *g, const struct head *a, size_t j0,
                          size_t n)
{
    const struct attention *p = a->p;
    const float factor = (float)(1.0 / (1.0 - p->dropout));
    for (size_t four = j0 / 4; four * 4 < j0 + n; four++)
        for (int v = 0; v < COLUMNS; v++) {
            const uvec zero = { 0 }, i = (uvec)(group_lanes(v) + (int32_t)g->i0);
            const struct vec_counter random =
                vec_philox((struct vec_counter){ { zero + (uint32_t)four, i, zero + (uint32_t)a->h,
                                                   zero + (uint32_t)a->b } },
                           p->dropout_seed);
            for (size_t w = 0; w < 4; w++) {
                const size_t j = four * 4 + w;
                const ivec kept = random.word[w] >> 8 >= p->dropout_threshold;
                if (j >= j0 && j < j0 + n)
                    P[j - j0][v] = vec_pick(kept, P[j - j0][v] * factor, vec_of(0.0f));
            }
        }
}

struct key_span {
    size_t j0, n, full_keys;     // after these, only the last vector's queries attend
    const visibility_row *mask;  // a row per key, or NULL
    bool has_masked_keys;        // for all queries, inside the span
};

/* Keys j0 … j0 + *n - 1. Of squares, few on a causal diagonal are partial. */
static enum tile_kind kind_of_square(const struct group *g, const struct head *a, size_t j0,
                                     size_t end, size_t *n)
{
    *n = min(GROUP, end - j0);
    return tile_kind(a->p, a->b, a->h, g->i0, g->i0 + g->rows, j0, j0 + *n);
}

/* Sets s to the longest run of squares of one kind: full ones of a partial tile skip masking. */
static enum tile_kind key_span_find(struct key_span *s, const struct group *g, const struct head *a,
                                    size_t j0, size_t end)
{
    size_t n;
    *s = (struct key_span){ .j0 = j0 };
    const enum tile_kind kind = kind_of_square(g, a, j0, end, &s->n);
    while (j0 + s->n < end && kind_of_square(g, a, j0 + s->n, end, &n) == kind)
        s->n += n;
    s->full_keys = s->n;
    return kind;
}

/* Fills the mask, drops fully masked keys at both ends, sets full_keys. */
static void key_span_mask(struct key_span *s, struct workspace *w, const struct group *g,
                          const struct head *a)
{
    size_t first = 0;
    visibility_fill(w->mask, g, a, s->j0, s->n);
    while (s->n > 0 && !visible_to_any(w->mask[s->n - 1]))
        s->n--;
    while (first < s->n && !visible_to_any(w->mask[first]))
        first++;
    s->j0 += first;
    s->n -= first;
    s->mask = (const visibility_row *)w->mask + first;
    for (size_t r = 0; r < s->n; r++)
        s->has_masked_keys |= !visible_to_any(s->mask[r]);
    s->full_keys = s->n;
    while (s->full_keys > 0 && !visible_outside(COLUMNS - 1, s->mask[s->full_keys - 1]))
        s->full_keys--;
}

/* The span's rows of V, with 0 for fully masked keys, which may be NaN. */
static const float *values(struct workspace *w, struct key_span s, const float *V, size_t d)
{
    if (!w->V || !s.mask || !s.has_masked_keys)
        return V + s.j0 * d;
    for (size_t r = 0; r < s.n; r++)
        if (visible_to_any(s.mask[r]))
            memcpy(w->V + r * d, V + (s.j0 + r) * d, d * sizeof *V);
        else
            memset(w->V + r * d, 0, d * sizeof *V);
    return w->V;
}

/* Separate from softmax_masked: a combined loop would spill registers. */
static void softmax_full(struct group *g, const float *K, size_t d, struct key_span s, group_row *P)
{
    vec sum[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        sum[v] = vec_of(0.0f);
    for (size_t j = 0; j < s.n; j += ROWS)
        overlap_accumulate(g, block_scores(g, K + j * d, d, s.n - j), d, P, j, sum);
    for (int v = 0; v < COLUMNS; v++)
        g->l[v] += sum[v];
}

static void softmax_masked(struct group *g, const float *K, size_t d, struct key_span s,
                           group_row *P)
{
    vec sum[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        sum[v] = vec_of(0.0f);
    for (size_t j = 0; j < s.n; j += ROWS) {
        struct block c = j < s.full_keys || s.n - j < ROWS
                             ? block_scores(g, K + j * d, d, s.n - j)
                             : column_product(COLUMNS - 1, (struct block){ 0 }, K + j * d,
                                              (ptrdiff_t)d, 1, (const group_row *)g->Q, d);
        for (size_t r = 0; r < min(ROWS, s.n - j); r++)
            for (int v = 0; v < COLUMNS; v++)
                c.at[r][v] = vec_pick(s.mask[j + r][v], c.at[r][v], vec_of(-INFINITY));
        overlap_accumulate(g, c, d, P, j, sum);
    }
    for (int v = 0; v < COLUMNS; v++)
        g->l[v] += sum[v];
}

/* For modified scores. Not inlined, to save the other loops' registers. */
__attribute__((noinline)) static void softmax_scored(struct group *g, const struct head *a,
                                                     struct key_span s, group_row *P)
{
    const size_t d = a->p->d;
    const ivec none = { 0 }, all = none - 1;
    const int32_t last = (int32_t)(g->i0 + g->rows - 1);
    vec sum[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        sum[v] = vec_of(0.0f);
    for (size_t j = 0; j < s.n; j += ROWS) {
        struct block c = block_scores(g, a->K + (s.j0 + j) * d, d, s.n - j);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++) {
                // padding repeats the last query, not stored, or key, whose weight is 0
                const ivec i = group_lanes(v) + (int32_t)g->i0,
                           key = none + (int32_t)(s.j0 + min(j + r, s.n - 1));
                const ivec query = ((i > last) & last) | ((i <= last) & i);
                const ivec mask = j + r >= s.n ? none : s.mask ? s.mask[j + r][v] : all;
                const struct vec_score x = vec_score(a->p, a->b, a->h, query, key, c.at[r][v]);
                c.at[r][v] = vec_pick(mask, x.x, vec_of(-INFINITY));
            }
        overlap_accumulate(g, c, d, P, j, sum);
    }
    for (int v = 0; v < COLUMNS; v++)
        g->l[v] += sum[v];
}

static void process_span(struct workspace *w, struct group *g, const struct head *a,
                         struct key_span s)
{
    const size_t d = a->p->d;
    vec one[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        one[v] = vec_of(1.0f);
    if (score_option(a->p))
        softmax_scored(g, a, s, w->P);
    else
        (s.mask ? softmax_masked : softmax_full)(g, a->K + s.j0 * d, d, s, w->P);
    if (a->p->dropout_threshold > 0)
        apply_dropout(w->P, g, a, s.j0, s.n);
    block_outputs(g, one, values(w, s, a->V, d), d, (const group_row *)w->P, s.full_keys, s.n);
}

static void process_tile(struct workspace *w, struct group *g, const struct head *a, size_t j0,
                         size_t end)
{
    struct key_span s;
    for (size_t j = j0; j < end;) {
        const enum tile_kind kind = key_span_find(&s, g, a, j, end);
        j += s.n;
        if (kind == TILE_PARTIAL)
            key_span_mask(&s, w, g, a);
        if (kind != TILE_SKIPPED && s.n > 0)
            process_span(w, g, a, s);
    }
}

/* Stores O untransposed, and |scale| m, as splits_finish uses e^x. */
static void store_split(struct workspace *w, const struct splits *splits, size_t s,
                        const struct head *a, const struct group *g)
{
    float m[GROUP], l[GROUP];
    vec one[COLUMNS];
    for (int v = 0; v < COLUMNS; v++) {
        one[v] = vec_of(1.0f);
        vec_store(l + v * LANES, g->l[v]);
        vec_store(m + v * LANES,
                  vec_pick(g->l[v] == 0.0f, vec_of(-INFINITY), g->m[v] * g->scale.size));
    }
    group_store(g, a->p->d, one, w->O);
    const struct fast_memory fast = { .m = m, .l = l, .O = w->O };
    splits_store(splits, s, *a, (struct tile){ .i0 = g->i0, .rows = g->rows }, &fast);
}

static void do_task(struct workspace *w, const struct splits *splits, const struct head *a,
                    size_t s, size_t i0, size_t rows, size_t Bc)
{
    const struct attention *p = a->p;
    const size_t end = splits_begin(splits, p, s + 1), groups = (rows - 1) / GROUP + 1;
    for (size_t k = 0; k < groups; k++)
        group_begin(&w->g[k], a, i0 + k * GROUP, min(GROUP, rows - k * GROUP));
    for (size_t j0 = splits_begin(splits, p, s); j0 < end; j0 += Bc) {
        const size_t cols = min(Bc, end - j0);
        if (tile_kind(p, a->b, a->h, i0, i0 + rows, j0, j0 + cols) == TILE_SKIPPED)
            continue;
        for (size_t k = 0; k < groups; k++)
            process_tile(w, &w->g[k], a, j0, j0 + cols);
    }
    for (size_t k = 0; k < groups && splits->count > 1; k++)
        store_split(w, splits, s, a, &w->g[k]);
    for (size_t k = 0; k < groups && splits->count == 1; k++)
        group_end(&w->g[k], a);
}

void complete(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t heads = p->B * p->H, Tr = (p->Nq - 1) / size.Br + 1;
    struct splits splits = { .count = split_count(p) };
    if (splits.count > 1)
        splits = splits_new(p);
    size.Br = min(size.Br, p->Nq);
    size.Bc = min(size.Bc, p->Nk);

    PARALLEL(omp parallel)
    {
        struct workspace w = workspace_new(p, size, splits.count > 1);
        PARALLEL(omp for schedule(dynamic))
        for (size_t task = 0; task < heads * Tr * splits.count; task++) {
            const size_t i0 = (Tr - 1 - task / splits.count % Tr) * size.Br;
            const struct head a = head_of(p, task / splits.count / Tr, x);
            do_task(&w, &splits, &a, task % splits.count, i0, min(size.Br, p->Nq - i0), size.Bc);
        }
        PARALLEL(omp for)
        for (size_t row = 0; row < (splits.count > 1 ? attention_rows(p) : 0); row++)
            splits_finish(&splits, head_of(p, row / p->Nq, x), row % p->Nq);
        workspace_free(&w);
    }
    splits_free(&splits);
}
