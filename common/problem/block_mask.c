#include "common/problem/block_mask.h"

size_t block_mask_rows(const struct attention *p)
{
    return (p->Nq - 1) / p->mask_rows + 1;
}

size_t block_mask_columns(const struct attention *p)
{
    return (p->Nk - 1) / p->mask_cols + 1;
}

/* One past the last of the rows, or columns, of a block. */
static size_t block_end(size_t block, size_t size, size_t n)
{
    const size_t start = block * size;
    return n - start < size ? n : start + size;
}

/* A block holds such a pair unless a window of this width, to both sides, would skip it. */
void block_mask_band(uint8_t *mask, const struct attention *p, size_t width)
{
    const size_t rows = block_mask_rows(p), columns = block_mask_columns(p), all = p->Nq + p->Nk;
    struct attention window = attention_of(1, 1, 1, p->Nq, p->Nk, 1);
    window.top_left = p->top_left;
    window.window_left = window.window_right = (ptrdiff_t)(width < all ? width : all);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            mask[r * columns + c] =
                tile_kind(&window, 0, 0, r * p->mask_rows, block_end(r, p->mask_rows, p->Nq),
                          c * p->mask_cols, block_end(c, p->mask_cols, p->Nk)) != TILE_SKIPPED;
}

void block_mask_random(uint8_t *mask, const struct attention *p, double density, uint64_t seed)
{
    const size_t rows = block_mask_rows(p), columns = block_mask_columns(p);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            const struct philox counter = { { (uint32_t)c, (uint32_t)r, 0, 0 } };
            mask[r * columns + c] = philox4x32(counter, seed).word[0] * 0x1p-32 < density;
        }
}
