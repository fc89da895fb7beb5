/*
 * Step: causal masking.
 *
 * A group's loop ends at the last key that its last query attends to, and only the last few blocks
 * need masking: causal attention takes about half the time.
 */
#include "05_flash_tiled_cpu/fast/skip.h"

#include "05_flash_tiled_cpu/steps/steps.h"

static void skip_process_keys(struct group *g, const struct head *a, size_t j0, size_t n,
                              group_row *S)
{
    const size_t d = a->p->d;
    vec new_max[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        new_max[v] = g->m[v];
    for (size_t j = 0; j < n; j += ROWS) {
        struct block c = block_scores(g, a->K + (j0 + j) * d, d, n - j);
        c = mask_future_keys(c, g, a, j0 + j);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++) {
                S[j + r][v] = c.at[r][v];
                new_max[v] = vec_max(new_max[v], c.at[r][v]);
            }
    }
    block_update(g, new_max, a->V + j0 * d, d, S, n);
}

void skip(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t Bc = min(size.Bc, p->Nk);
    struct group g = group_new(p->d);
    group_row *S = group_rows_new(Bc + ROWS);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        for (size_t i0 = 0; i0 < p->Nq; i0 += GROUP) {
            const size_t rows = min(GROUP, p->Nq - i0), end = causal_key_end(&a, i0, rows);
            group_begin(&g, &a, i0, rows);
            for (size_t j0 = 0; j0 < end; j0 += Bc)
                skip_process_keys(&g, &a, j0, min(Bc, end - j0), S);
            group_end(&g, &a);
        }
    }
    extra_free((float *)S);
    group_free(&g);
}
