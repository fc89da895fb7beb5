#ifndef FLASH_TILED_SKIP_H
#define FLASH_TILED_SKIP_H

#include "05_flash_tiled_cpu/fast/block.h"

/* One past the last key to which queries i0 … i0 + rows - 1 attend. */
INLINE size_t causal_key_end(const struct head *a, size_t i0, size_t rows)
{
    const ptrdiff_t end = (ptrdiff_t)(i0 + rows) + attention_band(a->p).high;
    return end < 0 ? 0 : min((size_t)end, a->p->Nk);
}

/* Keys j … j + ROWS - 1: masked scores become -inf. */
INLINE struct block mask_future_keys(struct block c, const struct group *g, const struct head *a,
                                     size_t j)
{
    const ptrdiff_t first = (ptrdiff_t)j - attention_band(a->p).high - (ptrdiff_t)g->i0;
    if (first + ROWS <= 1)
        return c;
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < COLUMNS; v++) {
            const int32_t from = first + r < GROUP ? (int32_t)first + r : GROUP;
            c.at[r][v] = vec_pick(group_lanes(v) >= from, c.at[r][v], vec_of(-INFINITY));
        }
    return c;
}

#endif
