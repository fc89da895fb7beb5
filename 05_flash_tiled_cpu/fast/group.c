#include "05_flash_tiled_cpu/fast/group.h"

#include "05_flash_tiled_cpu/fast/transpose.h"

#include <float.h>

group_row *group_rows_new(size_t n)
{
    return (group_row *)extra_fast("rows of a group", n * GROUP);
}

struct group group_new(size_t d)
{
    return (struct group){ .Q = group_rows_new(d), .O = group_rows_new(d) };
}

void group_free(struct group *g)
{
    extra_free((float *)g->Q);
    extra_free((float *)g->O);
    *g = (struct group){ .Q = NULL };
}

static void group_clear(struct group *g, size_t d)
{
    for (int v = 0; v < COLUMNS; v++) {
        g->m[v] = vec_of(-FLT_MAX);
        g->l[v] = vec_of(0.0f);
    }
    memset(g->O, 0, d * sizeof *g->O);
}

void group_begin(struct group *g, const struct head *a, size_t i0, size_t rows)
{
    const size_t d = a->p->d;
    g->i0 = i0;
    g->rows = rows;
    g->scale = scale_of(score_option(a->p) ? 1.0f : a->p->scale);
    group_clear(g, d);
    for (size_t v = 0; v < COLUMNS; v++)
        for (size_t k = 0; k < d; k += LANES) {
            vec row[LANES];
            for (size_t i = 0; i < LANES; i++)
                row[i] = g->scale.sign *
                         vec_load_some(a->Q + (i0 + min(v * LANES + i, rows - 1)) * d + k, d - k);
            transpose(row);
            for (size_t i = 0; i < min(LANES, d - k); i++)
                g->Q[k + i][v] = row[i];
        }
}

static void group_store(const struct group *g, size_t d, const vec factor[COLUMNS], float *O)
{
    for (size_t v = 0; v < COLUMNS; v++)
        for (size_t k = 0; k < d; k += LANES) {
            vec row[LANES];
            for (size_t i = 0; i < LANES; i++)
                row[i] = g->O[min(k + i, d - 1)][v] * factor[v];
            transpose(row);
            for (size_t i = 0; i < LANES && v * LANES + i < g->rows; i++)
                vec_store_some(O + (v * LANES + i) * d + k, row[i], d - k);
        }
}

void group_begin_split(struct group *split, const struct group *g, size_t d)
{
    group_row *O = split->O;
    *split = *g;
    split->O = O;
    group_clear(split, d);
}

void group_combine(struct group *a, const struct group *b, size_t d)
{
    for (int v = 0; v < COLUMNS; v++) {
        const vec m = vec_max(a->m[v], b->m[v]),
                  rescale_a = vec_exp2((a->m[v] - m) * a->scale.factor),
                  rescale_b = vec_exp2((b->m[v] - m) * a->scale.factor);
        for (size_t k = 0; k < d; k++)
            a->O[k][v] = a->O[k][v] * rescale_a + b->O[k][v] * rescale_b;
        a->l[v] = a->l[v] * rescale_a + b->l[v] * rescale_b;
        a->m[v] = m;
    }
}

void group_end(const struct group *g, const struct head *a)
{
    const size_t d = a->p->d;
    const float *m = (const float *)g->m, *l = (const float *)g->l;
    vec factor[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        factor[v] = vec_pick(g->l[v] == 0.0f, vec_of(0.0f), 1.0f / g->l[v]);
    group_store(g, d, factor, a->O + g->i0 * d);
    for (size_t i = 0; a->lse && i < g->rows; i++)
        a->lse[g->i0 + i] = m[i] * g->scale.size + logf(l[i]);
}
