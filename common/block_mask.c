#include "block_mask.h"

#include "option_values.h"

#include <string.h>

struct block_mask_source block_mask_source(const char *option, const char *text)
{
    static const char band[] = "band:", random[] = "random:";
    struct block_mask_source source = { .kind = BLOCK_MASK_FILE };
    if (strncmp(text, band, sizeof band - 1) == 0) {
        source.kind = BLOCK_MASK_BAND;
        source.width = (size_t)option_whole_number(option, text + sizeof band - 1, 0, OPTION_MOST);
    } else if (strncmp(text, random, sizeof random - 1) == 0) {
        struct option_pair pair;
        source.kind = BLOCK_MASK_RANDOM;
        if (!option_pair(text + sizeof random - 1, ':', &pair))
            options_fail(option, "expected random:DENSITY:SEED, found '%s'", text);
        source.density = option_fraction(option, pair.left, false);
        source.seed = option_whole_number(option, pair.right, 0, UINT64_MAX);
    } else if (!*text || strncmp(text, "--", 2) == 0) {
        options_fail(option, "expected a file's name, band:W or random:DENSITY:SEED, found '%s'",
                     text);
    }
    return source;
}

size_t block_mask_rows(const struct attention *p)
{
    return (p->Nq - 1) / p->mask_rows + 1;
}

size_t block_mask_columns(const struct attention *p)
{
    return (p->Nk - 1) / p->mask_cols + 1;
}

/* Where block number `block` of `size` elements each ends, of `n` elements in all. */
static size_t end_of(size_t block, size_t size, size_t n)
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
                tile_kind(&window, 0, 0, r * p->mask_rows, end_of(r, p->mask_rows, p->Nq),
                          c * p->mask_cols, end_of(c, p->mask_cols, p->Nk)) != TILE_SKIPPED;
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
