/*
 * The two products of a group of queries with a tile of keys, block by block in registers: for `block`
 * and the steps after it.
 */
#ifndef FLASH_TILED_BLOCK_H
#define FLASH_TILED_BLOCK_H

#include "05_flash_tiled_cpu/fast/group.h"

/*
 * The scores of every query with ROWS keys, the first of them at K: rows of S^T. If no more than `left` keys
 * follow there, the scores after them are -inf.
 */
INLINE struct block block_scores(const struct group *g, const float *K, size_t d, size_t left)
{
    if (left >= ROWS)
        return block_product((struct block){ 0 }, K, (ptrdiff_t)d, 1, (const group_row *)g->Q, d);
    struct block c;
    for (size_t r = 0; r < ROWS; r++)
        for (int v = 0; v < COLUMNS; v++) {
            c.at[r][v] = vec_of(r < left ? 0.0f : -INFINITY);
            for (size_t k = 0; k < d && r < left; k++)
                c.at[r][v] += K[r * d + k] * g->Q[k][v];
        }
    return c;
}

/*
 * O^T = O^T rescale + V^T P^T, over n keys whose values begin at V. From key `wide` on only the last column of P
 * is not 0.
 */
INLINE void block_outputs(struct group *g, const vec rescale[COLUMNS], const float *V, size_t d,
                          const group_row *P, size_t wide, size_t n)
{
    size_t k = 0;
    for (; k + ROWS <= d; k += ROWS) {
        struct block c = block_product((struct block){ 0 }, V + k, 1, (ptrdiff_t)d, P, wide);
        c = column_product(COLUMNS - 1, c, V + wide * d + k, 1, (ptrdiff_t)d, P + wide, n - wide);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                g->O[k + r][v] = g->O[k + r][v] * rescale[v] + c.at[r][v];
    }
    for (; k < d; k++)  // fewer than ROWS are left
        for (int v = 0; v < COLUMNS; v++) {
            vec sum = vec_of(0.0f);
            for (size_t j = 0; j < n; j++)
                sum += V[j * d + k] * P[j][v];
            g->O[k][v] = g->O[k][v] * rescale[v] + sum;
        }
}

/*
 * fa2's lines 9 and 10 for n keys whose values begin at V: S, their scores, become weights; m, l and O
 * take note of them. `most` are the largest scores of every query, these keys and all before.
 */
void block_finish(struct group *g, const vec most[COLUMNS], const float *V, size_t d, group_row *S,
                  size_t n);

#endif
