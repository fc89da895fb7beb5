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

void group_begin(struct group *g, const struct head *a, size_t i0, size_t rows)
{
    const size_t d = a->p->d;
    g->i0 = i0;
    g->rows = rows;
    g->scale = scale_of(score_option(a->p) ? 1.0f : a->p->scale);
    for (size_t v = 0; v < COLUMNS; v++) {
        g->m[v] = vec_of(-FLT_MAX);
        g->l[v] = vec_of(0.0f);
        for (size_t k = 0; k < d; k += LANES) {
            vec row[LANES];
            for (size_t i = 0; i < LANES; i++)
                row[i] = g->scale.sign *
                         vec_load_some(a->Q + (i0 + min(v * LANES + i, rows - 1)) * d + k, d - k);
            transpose(row);
            for (size_t i = 0; i < min(LANES, d - k); i++) {
                g->Q[k + i][v] = row[i];
                g->O[k + i][v] = vec_of(0.0f);
            }
        }
    }
}

void group_store(const struct group *g, size_t d, const vec factor[COLUMNS], float *O)
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

void group_copy(struct group *sum, const struct group *g, size_t d)
{
    group_row *O = sum->O;
    *sum = *g;
    sum->Q = NULL;
    sum->O = memcpy(O, g->O, d * sizeof *O);
}

void group_combine(struct group *sum, struct group *g, size_t d)
{
    for (int v = 0; v < COLUMNS; v++) {
        const vec m = vec_max(sum->m[v], g->m[v]),
                  of_sum = vec_exp2((sum->m[v] - m) * g->scale.factor),
                  of_g = vec_exp2((g->m[v] - m) * g->scale.factor);
        for (size_t k = 0; k < d; k++) {
            sum->O[k][v] = sum->O[k][v] * of_sum + g->O[k][v] * of_g;
            g->O[k][v] = vec_of(0.0f);
        }
        sum->l[v] = sum->l[v] * of_sum + g->l[v] * of_g;
        sum->m[v] = m;
        g->l[v] = vec_of(0.0f);
        g->m[v] = vec_of(-FLT_MAX);
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
