/*
 * Every option, as fast as overlap, on all cores.
 *
 * A task is a head, a tile of queries and, if tiles are few, a split of the keys; tiles with the
 * most keys start first. Splits are combined in ascending order.
 */
#include "05_flash_tiled_cpu/fast/overlap.h"
#include "05_flash_tiled_cpu/fast/score.h"
#include "05_flash_tiled_cpu/fast/vec_philox.h"
#include "05_flash_tiled_cpu/fast/visibility.h"
#include "common/cpu/threads.h"

#include <stdbool.h>

/* Threads share splits if there are fewer than 16 tiles of up to 64 queries. */
static size_t splits_shared(const struct attention *p, size_t Br)
{
    return p->B * p->H * ceil_div(p->Nq, min(Br, 64)) < 16 ? split_count(p) : 1;
}

static struct group *groups_new(size_t n, size_t d, bool with_Q)
{
    struct group *g = (struct group *)extra_fast("groups", n * sizeof *g / sizeof(float));
    group_row *O = group_rows_new((with_Q ? 2 * n : n) * d);
    for (size_t k = 0; k < n; k++)
        g[k] = (struct group){ .O = O + k * d, .Q = with_Q ? O + (n + k) * d : NULL };
    return g;
}

static void groups_free(struct group *g)
{
    extra_free(g ? (float *)g->O : NULL);
    extra_free((float *)g);
}

struct workspace {
    struct group *g;      // NULL if threads share the splits
    struct group *split;  // for its splits after the first, or NULL
    group_row *P;
    visibility_row *mask;
    float *V;  // NULL without a key or block mask
};

/* V and split only if p needs them: for short sequences, allocation takes 10 % of the time. */
static struct workspace workspace_new(const struct attention *p, struct tile_size size,
                                      size_t shared)
{
    const size_t groups = ceil_div(size.Br, GROUP);
    const bool has_masked_keys = p->key_mask || p->block_mask;
    return (struct workspace){
        .g = shared > 1 ? NULL : groups_new(groups, p->d, true),
        .split = shared < split_count(p) ? groups_new(groups, p->d, false) : NULL,
        .P = group_rows_new(size.Bc + ROWS),
        .mask = visibility_new(size.Bc),
        .V = has_masked_keys ? extra_fast("a tile of V", size.Bc * p->d) : NULL,
    };
}

static void workspace_free(struct workspace *w)
{
    groups_free(w->g);
    groups_free(w->split);
    extra_free((float *)w->P);
    extra_free((float *)w->mask);
    extra_free(w->V);
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
    bool has_masked_keys;        // masked for all queries
};

/* Keys j0 … j0 + *n - 1. A causal diagonal crosses few of a tile's squares. */
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
        sum[v] = g->l[v];
    for (size_t j = 0; j < s.n; j += ROWS)
        overlap_accumulate(g, block_scores(g, K + j * d, d, s.n - j), d, P, j, sum);
    for (int v = 0; v < COLUMNS; v++)
        g->l[v] = sum[v];
}

static void softmax_masked(struct group *g, const float *K, size_t d, struct key_span s,
                           group_row *P)
{
    vec sum[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        sum[v] = g->l[v];
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
        g->l[v] = sum[v];
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
        sum[v] = g->l[v];
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
        g->l[v] = sum[v];
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

static void process_splits(struct workspace *w, struct group *g, const struct head *a, size_t i0,
                           size_t rows, size_t j0, size_t end, size_t Bc)
{
    const struct attention *p = a->p;
    bool first = true;
    for (size_t k = 0; k * GROUP < rows; k++)
        group_begin(&g[k], a, i0 + k * GROUP, min(GROUP, rows - k * GROUP));
    for (; j0 < end; j0 += SPLIT_KEYS) {
        const size_t split_end = min(j0 + SPLIT_KEYS, end);
        struct group *split = first ? g : w->split;
        if (tile_kind(p, a->b, a->h, i0, i0 + rows, j0, split_end) == TILE_SKIPPED)
            continue;
        for (size_t k = 0; k * GROUP < rows && !first; k++)
            group_begin_split(&split[k], &g[k], p->d);
        for (size_t j = j0; j < split_end; j += Bc) {
            const size_t j1 = min(j + Bc, split_end);
            const enum tile_kind kind = tile_kind(p, a->b, a->h, i0, i0 + rows, j, j1);
            for (size_t k = 0; k * GROUP < rows && kind != TILE_SKIPPED; k++)
                process_tile(w, &split[k], a, j, j1);
        }
        for (size_t k = 0; k * GROUP < rows && !first; k++)
            group_combine(&g[k], &split[k], p->d);
        first = false;
    }
}

/* Called by all threads. */
static void combine_shared(const struct attention *p, struct tensors x, struct group *shared,
                           size_t tiles, size_t splits, size_t groups)
{
    PARALLEL(omp for)
    for (size_t k = 0; k < tiles * groups; k++) {
        struct group *g = shared + k / groups * groups * splits + k % groups;
        const struct head a = head_of(p, k / groups * p->B * p->H / tiles, x);
        for (size_t s = 1; s < splits && g->rows > 0; s++)
            group_combine(g, g + s * groups, p->d);
        group_end(g, &a);
    }
}

void complete(const struct attention *p, struct tile_size size, struct tensors x)
{
    size.Br = min(size.Br, p->Nq);
    size.Bc = min(size.Bc, p->Nk);
    const size_t Tr = ceil_div(p->Nq, size.Br), tiles = p->B * p->H * Tr;
    const size_t groups = ceil_div(size.Br, GROUP), splits = splits_shared(p, size.Br);
    const size_t keys = splits > 1 ? SPLIT_KEYS : p->Nk;
    struct group *shared = splits > 1 ? groups_new(tiles * splits * groups, p->d, true) : NULL;

    PARALLEL(omp parallel)
    {
        struct workspace w = workspace_new(p, size, splits);
        PARALLEL(omp for schedule(dynamic))
        for (size_t task = 0; task < tiles * splits; task++) {
            const size_t i0 = (Tr - 1 - task / splits % Tr) * size.Br, j0 = task % splits * keys;
            const size_t rows = min(size.Br, p->Nq - i0);
            const struct head a = head_of(p, task / splits / Tr, x);
            struct group *g = shared ? shared + task * groups : w.g;
            process_splits(&w, g, &a, i0, rows, j0, min(j0 + keys, p->Nk), size.Bc);
            for (size_t k = 0; k * GROUP < rows && !shared; k++)
                group_end(&g[k], &a);
        }
        if (shared)
            combine_shared(p, x, shared, tiles, splits, groups);
        workspace_free(&w);
    }
    groups_free(shared);
}
