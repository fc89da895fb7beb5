#ifndef FLASH_TILED_BLOCK_H
#define FLASH_TILED_BLOCK_H

#include "05_flash_tiled_cpu/fast/group.h"

/* q.k of ROWS keys at K, with the scale's sign; -inf past the `remaining` keys. */
INLINE struct block block_scores(const struct group *g, const float *K, size_t d, size_t remaining)
{
    if (remaining >= ROWS)
        return block_product((struct block){ 0 }, K, (ptrdiff_t)d, 1, (const group_row *)g->Q, d);
    struct block c;
    for (size_t r = 0; r < ROWS; r++)
        for (int v = 0; v < COLUMNS; v++) {
            c.at[r][v] = vec_of(r < remaining ? 0.0f : -INFINITY);
            for (size_t k = 0; k < d && r < remaining; k++)
                c.at[r][v] += K[r * d + k] * g->Q[k][v];
        }
    return c;
}

/*
 * O^T = O^T rescale + V^T P^T over n keys at V. After full_keys of them, only the last vector of a
 * row of P is nonzero.
 */
INLINE void block_outputs(struct group *g, const vec rescale[COLUMNS], const float *V, size_t d,
                          const group_row *P, size_t full_keys, size_t n)
{
    size_t k = 0;
    for (; k + ROWS <= d; k += ROWS) {
        struct block c = block_product((struct block){ 0 }, V + k, 1, (ptrdiff_t)d, P, full_keys);
        c = column_product(COLUMNS - 1, c, V + full_keys * d + k, 1, (ptrdiff_t)d, P + full_keys,
                           n - full_keys);
        for (size_t r = 0; r < ROWS; r++)
            for (int v = 0; v < COLUMNS; v++)
                g->O[k + r][v] = g->O[k + r][v] * rescale[v] + c.at[r][v];
    }
    for (; k < d; k++)  // fewer than ROWS left
        for (int v = 0; v < COLUMNS; v++) {
            vec sum = vec_of(0.0f);
            for (size_t j = 0; j < n; j++)
                sum += V[j * d + k] * P[j][v];
            g->O[k][v] = g->O[k][v] * rescale[v] + sum;
        }
}

/* fa2's lines 9 and 10; new_max includes these keys. */
void block_update(struct group *g, const vec new_max[COLUMNS], const float *V, size_t d,
                  group_row *S, size_t n);

#endif
