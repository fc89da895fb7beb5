#ifndef FLASH_TILED_OVERLAP_H
#define FLASH_TILED_OVERLAP_H

#include "05_flash_tiled_cpu/fast/block.h"

/* Raises m where block_max exceeds it by slack; rescales O, l, and the tile's j rows of P. */
void overlap_catch_up(struct group *g, const vec block_max[COLUMNS], size_t d, group_row *P,
                      size_t j, vec sum[COLUMNS]);

/* Turns scores c into rows j, j + 1, … of P, and adds them to the sums. */
INLINE void overlap_accumulate(struct group *g, struct block c, size_t d, group_row *P, size_t j,
                               vec sum[COLUMNS])
{
    vec block_max[COLUMNS];
    ivec exceeds_slack = { 0 };
    for (int v = 0; v < COLUMNS; v++) {
        block_max[v] = c.at[0][v];
        for (int r = 1; r < ROWS; r++)
            block_max[v] = vec_max(block_max[v], c.at[r][v]);
        exceeds_slack |= block_max[v] > g->m[v] + g->scale.slack;
    }
    if (__builtin_expect(vec_any(exceeds_slack), 0))
        overlap_catch_up(g, block_max, d, P, j, sum);
    for (int v = 0; v < COLUMNS; v++)
        for (size_t r = 0; r < ROWS; r++) {
            P[j + r][v] = vec_exp2((c.at[r][v] - g->m[v]) * g->scale.factor);
            sum[v] += P[j + r][v];
        }
}

/* P has room for n + ROWS rows. */
void overlap_process_keys(struct group *g, const struct head *a, size_t j0, size_t n, group_row *P);

#endif
