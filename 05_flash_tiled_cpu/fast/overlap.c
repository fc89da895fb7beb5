/*
 * Step: overlap softmax with the products.
 *
 * A block's exponentials follow its scores immediately, and overlap with the next block's
 * products. The tile's maximum is not known yet, but 2^{x - m} / sum of 2^{x - m} is the
 * same for any m. So m lags, and moves only when a weight would exceed e^11, as in
 * FlashAttention-4: by powers of 2, which round nothing.
 */
#include "05_flash_tiled_cpu/fast/overlap.h"

#include "05_flash_tiled_cpu/fast/skip.h"
#include "05_flash_tiled_cpu/steps/steps.h"

#include <float.h>

void overlap_catch_up(struct group *g, const vec block_max[COLUMNS], size_t d, group_row *P,
                      size_t j, vec sum[COLUMNS])
{
    const float factor = g->scale.factor;
    for (int v = 0; v < COLUMNS; v++) {
        const vec doublings = vec_round((block_max[v] - g->m[v]) * factor + 0.5f),
                  up = vec_pick(g->m[v] == -FLT_MAX, block_max[v], g->m[v] + doublings / factor),
                  m = vec_pick(block_max[v] > g->m[v] + g->scale.slack, up, g->m[v]),
                  rescale = vec_exp2(vec_round((g->m[v] - m) * factor));
        for (size_t k = 0; k < d; k++)
            g->O[k][v] *= rescale;
        for (size_t r = 0; r < j; r++)
            P[r][v] *= rescale;
        g->l[v] *= rescale;
        sum[v] *= rescale;
        g->m[v] = m;
    }
}

void overlap_process_keys(struct group *g, const struct head *a, size_t j0, size_t n, group_row *P)
{
    const size_t d = a->p->d;
    vec sum[COLUMNS], one[COLUMNS];
    for (int v = 0; v < COLUMNS; v++) {
        sum[v] = vec_of(0.0f);
        one[v] = vec_of(1.0f);
    }
    for (size_t j = 0; j < n; j += ROWS) {
        const struct block c = block_scores(g, a->K + (j0 + j) * d, d, n - j);
        overlap_accumulate(g, mask_future_keys(c, g, a, j0 + j), d, P, j, sum);
    }
    for (int v = 0; v < COLUMNS; v++)
        g->l[v] += sum[v];
    block_outputs(g, one, a->V + j0 * d, d, (const group_row *)P, n, n);
}

void overlap(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t Bc = min(size.Bc, p->Nk);
    struct group g = group_new(p->d);
    group_row *P = group_rows_new(Bc + ROWS);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        for (size_t i0 = 0; i0 < p->Nq; i0 += GROUP) {
            const size_t rows = min(GROUP, p->Nq - i0), end = causal_key_end(&a, i0, rows);
            group_begin(&g, &a, i0, rows);
            for (size_t j0 = 0; j0 < end; j0 += Bc)
                overlap_process_keys(&g, &a, j0, min(Bc, end - j0), P);
            group_end(&g, &a);
        }
    }
    extra_free((float *)P);
    group_free(&g);
}
