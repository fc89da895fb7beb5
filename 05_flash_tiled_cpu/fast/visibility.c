#include "05_flash_tiled_cpu/fast/visibility.h"

visibility_row *visibility_new(size_t n)
{
    return (visibility_row *)extra_fast("rows of lanes", n * GROUP);
}

static void queries_of_lanes(const struct group *g, visibility_row query)
{
    const int32_t last = (int32_t)(g->i0 + g->rows - 1);
    for (int v = 0; v < COLUMNS; v++) {
        const ivec i = group_lanes(v) + (int32_t)g->i0, is_padding = i > last;
        query[v] = (is_padding & last) | (~is_padding & i);
    }
}

/* The lanes' masks for one column of the block mask. */
static void column_of_blocks(const struct attention *p, const visibility_row query, size_t column,
                             visibility_row blocks)
{
    const size_t columns = (p->Nk - 1) / p->mask_cols + 1;
    for (int v = 0; v < COLUMNS; v++)
        for (int lane = 0; lane < LANES; lane++) {
            const size_t row = (size_t)query[v][lane] / p->mask_rows;
            blocks[v][lane] = p->block_mask[row * columns + column] ? -1 : 0;
        }
}

void visibility_fill(visibility_row *mask, const struct group *g, const struct head *a, size_t j0,
                     size_t n)
{
    const struct attention *p = a->p;
    const struct band band = attention_band(p);
    visibility_row query, blocks = { { 0 } };
    queries_of_lanes(g, query);
    for (size_t r = 0; r < n; r++) {
        const size_t j = j0 + r;
        // low <= j - i <= high in 32 bits: lengths are below 2^30
        const int32_t first = (int32_t)((ptrdiff_t)j - band.high),
                      last = (int32_t)((ptrdiff_t)j - band.low);
        const int32_t is_kept = !p->key_mask || p->key_mask[a->b * p->Nk + j] ? -1 : 0;
        if (p->block_mask && (r == 0 || j % p->mask_cols == 0))
            column_of_blocks(p, query, j / p->mask_cols, blocks);
        for (int v = 0; v < COLUMNS; v++) {
            mask[r][v] = (query[v] >= first) & (query[v] <= last) & is_kept;
            if (p->block_mask)
                mask[r][v] &= blocks[v];
        }
    }
}
