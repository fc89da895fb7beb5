/*
 * Step: a block of sums that hides the latency of multiply-adds.
 *
 * With AVX-512 the block has 8 keys by 2 vectors of queries: 10 loads per 16 multiply-adds,
 * against 5 per 4 for a 4 by 1 block.
 */
#include "05_flash_tiled_cpu/fast/block.h"

#include "05_flash_tiled_cpu/steps/steps.h"

/* Inlined, its constants would evict block_product's sums from registers. */
static __attribute__((noinline)) void block_softmax(struct group *g, group_row *S, size_t n,
                                                    const vec new_max[COLUMNS],
                                                    vec rescale[COLUMNS])
{
    for (int v = 0; v < COLUMNS; v++) {
        vec sum = vec_of(0.0f);
        for (size_t j = 0; j < n; j++) {
            S[j][v] = vec_exp2((S[j][v] - new_max[v]) * g->scale.factor);
            sum += S[j][v];
        }
        rescale[v] = vec_exp2((g->m[v] - new_max[v]) * g->scale.factor);
        g->l[v] = g->l[v] * rescale[v] + sum;
        g->m[v] = new_max[v];
    }
}

void block_update(struct group *g, const vec new_max[COLUMNS], const float *V, size_t d,
                  group_row *S, size_t n)
{
    vec rescale[COLUMNS];
    block_softmax(g, S, n, new_max, rescale);
    block_outputs(g, rescale, V, d, (const group_row *)S, n, n);
}

/* S has room for n + ROWS rows. */
static void block_process_keys(struct group *g, const struct head *a, size_t j0, size_t n,
                               group_row *S)
{
    const size_t d = a->p->d;
    vec new_max[COLUMNS];
    for (int v = 0; v < COLUMNS; v++)
        new_max[v] = g->m[v];
    for (size_t j = 0; j < n; j += ROWS) {
        const struct block c = block_scores(g, a->K + (j0 + j) * d, d, n - j);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++) {
                S[j + r][v] = c.at[r][v];
                new_max[v] = vec_max(new_max[v], c.at[r][v]);
            }
    }
    block_update(g, new_max, a->V + j0 * d, d, S, n);
}

void block(const struct attention *p, struct tile_size size, struct tensors x)
{
    const size_t Bc = min(size.Bc, p->Nk);
    struct group g = group_new(p->d);
    group_row *S = group_rows_new(Bc + ROWS);
    for (size_t n = 0; n < p->B * p->H; n++) {
        const struct head a = head_of(p, n, x);
        for (size_t i0 = 0; i0 < p->Nq; i0 += GROUP) {
            group_begin(&g, &a, i0, min(GROUP, p->Nq - i0));
            for (size_t j0 = 0; j0 < p->Nk; j0 += Bc)
                block_process_keys(&g, &a, j0, min(Bc, p->Nk - j0), S);
            group_end(&g, &a);
        }
    }
    extra_free((float *)S);
    group_free(&g);
}
