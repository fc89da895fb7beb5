#include "07_backward/fast/keys.h"

#include "05_flash_tiled_cpu/fast/transpose.h"
#include "05_flash_tiled_cpu/fast/vec_philox.h"

#include <string.h>

size_t keys_rows(size_t d, bool has_masked_keys)
{
    return 4 * d + (has_masked_keys ? 2 : 1) * panel_count(d) * GROUP;
}

struct keys keys_new(group_row **left, size_t d, bool has_masked_keys)
{
    return (struct keys){
        .K = rows_take(left, d),
        .V = rows_take(left, d),
        .dK = rows_take(left, d),
        .dV = rows_take(left, d),
        .K_rows = rows_take(left, panel_count(d) * GROUP),
        .with_zeros = has_masked_keys ? rows_take(left, panel_count(d) * GROUP) : NULL,
    };
}

/* Transposes x (cols, d) into d rows, 0 in lanes without a key. */
static void to_lanes(group_row *to, const float *x, size_t cols, size_t d)
{
    for (size_t v = 0; v < COLUMNS; v++)
        for (size_t k = 0; k < d; k += LANES) {
            vec row[LANES];
            for (size_t l = 0; l < LANES; l++)
                row[l] = v * LANES + l < cols ? vec_load_some(x + (v * LANES + l) * d + k, d - k)
                                              : vec_of(0.0f);
            transpose(row);
            for (size_t l = 0; l < min(LANES, d - k); l++)
                to[k + l][v] = row[l];
        }
}

/* The inverse, times factor. */
static void from_lanes(float *x, const group_row *from, float factor, size_t cols, size_t d)
{
    for (size_t v = 0; v < COLUMNS; v++)
        for (size_t k = 0; k < d; k += LANES) {
            vec row[LANES];
            for (size_t l = 0; l < LANES; l++)
                row[l] = factor * from[min(k + l, d - 1)][v];
            transpose(row);
            for (size_t l = 0; l < LANES && v * LANES + l < cols; l++)
                vec_store_some(x + (v * LANES + l) * d + k, row[l], d - k);
        }
}

void keys_begin(struct keys *k, const struct backward_head *a, size_t j0, size_t cols)
{
    const size_t d = a->p->d;
    k->j0 = j0;
    k->cols = cols;
    to_lanes(k->K, a->K + j0 * d, cols, d);
    to_lanes(k->V, a->V + j0 * d, cols, d);
    memset(k->dK, 0, d * sizeof *k->dK);
    memset(k->dV, 0, d * sizeof *k->dV);
    memset(k->K_rows, 0, panel_count(d) * GROUP * sizeof *k->K_rows);
    for (size_t c = 0; c < cols; c++)
        for (size_t n = 0; n < panel_count(d); n++)
            memcpy(&k->K_rows[n * GROUP + c], a->K + (j0 + c) * d + n * GROUP,
                   min(GROUP, d - n * GROUP) * sizeof *a->K);
}

void keys_end(const struct keys *k, const struct backward_head *a)
{
    const size_t d = a->p->d;
    from_lanes(a->dK + k->j0 * d, (const group_row *)k->dK, gradient_factor(a->p), k->cols, d);
    from_lanes(a->dV + k->j0 * d, (const group_row *)k->dV, 1.0f, k->cols, d);
}

static void key_mask_lanes(const struct keys *k, const struct backward_head *a,
                           visibility_row unmasked)
{
    const struct attention *p = a->p;
    for (int v = 0; v < COLUMNS; v++)
        for (int lane = 0; lane < LANES; lane++) {
            const size_t c = (size_t)v * LANES + (size_t)lane;
            const bool is_unmasked =
                c < k->cols && (!p->key_mask || p->key_mask[a->b * p->Nk + k->j0 + c]);
            unmasked[v][lane] = is_unmasked ? -1 : 0;
        }
}

static void block_mask_lanes(const struct keys *k, const struct attention *p, size_t row,
                             visibility_row blocks)
{
    const size_t columns = (p->Nk - 1) / p->mask_cols + 1;
    for (int v = 0; v < COLUMNS; v++)
        for (int lane = 0; lane < LANES; lane++) {
            const size_t j = min(k->j0 + (size_t)v * LANES + (size_t)lane, p->Nk - 1);
            blocks[v][lane] = p->block_mask[row * columns + j / p->mask_cols] ? -1 : 0;
        }
}

void keys_visible(visibility_row *mask, const struct keys *k, const struct backward_head *a,
                  size_t i0, size_t n)
{
    const struct attention *p = a->p;
    const struct band band = attention_band(p);
    visibility_row unmasked, blocks = { { 0 } };
    key_mask_lanes(k, a, unmasked);
    for (size_t r = 0; r < n; r++) {
        const size_t i = i0 + r;
        // low <= j - i <= high in 32 bits: lengths are below 2^30
        const int32_t first = (int32_t)((ptrdiff_t)i + band.low - (ptrdiff_t)k->j0);
        const int32_t last = (int32_t)((ptrdiff_t)i + band.high - (ptrdiff_t)k->j0);
        if (p->block_mask && (r == 0 || i % p->mask_rows == 0))
            block_mask_lanes(k, p, i / p->mask_rows, blocks);
        for (int v = 0; v < COLUMNS; v++) {
            mask[r][v] = (group_lanes(v) >= first) & (group_lanes(v) <= last) & unmasked[v];
            if (p->block_mask)
                mask[r][v] &= blocks[v];
        }
    }
}

/* A Philox call covers four adjacent keys, so lanes are queries first, then transposed. */
void keys_dropout_factors(group_row *Z, const struct keys *k, const struct backward_head *a,
                          size_t i0, size_t n)
{
    const struct attention *p = a->p;
    const vec factor = vec_of((float)(1.0 / (1.0 - p->dropout)));
    const uvec zero = { 0 };
    for (size_t r = 0; r < n; r += LANES)
        for (size_t v = 0; v < COLUMNS; v++) {
            const size_t j0 = k->j0 + v * LANES;
            const uvec i = (uvec)group_lanes(0) + (uint32_t)(i0 + r);
            vec square[LANES];
            for (size_t four = j0 / 4; four * 4 < j0 + LANES; four++) {
                const struct vec_counter random = vec_philox(
                    (struct vec_counter){ { zero + (uint32_t)four, i, zero + (uint32_t)a->h,
                                            zero + (uint32_t)a->b } },
                    p->dropout_seed);
                for (size_t w = 0; w < 4; w++) {
                    const size_t j = four * 4 + w;
                    if (j >= j0 && j < j0 + LANES)
                        square[j - j0] = vec_pick(random.word[w] >> 8 >= p->dropout_threshold,
                                                  factor, vec_of(0.0f));
                }
            }
            transpose(square);
            for (size_t l = 0; l < min(LANES, n - r); l++)
                Z[r + l][v] = square[l];
        }
}
