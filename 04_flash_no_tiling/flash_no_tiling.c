/*
 * Attention of all rows.                            2 d accesses per visible pair + 2 Nq d + Nq
 *
 * lse = m + ln l is all that a backward pass needs.
 */
#include "04_flash_no_tiling/flash_no_tiling.h"

#include "04_flash_no_tiling/flash_row.h"

#include <math.h>

void flash_no_tiling_row(const struct attention *p, const float *Q, const float *K, const float *V,
                         size_t b, size_t h, size_t i, float *o, float *lse)
{
    const size_t head = (b * p->Hkv + kv_head(p, h)) * p->Nk * p->d;
    struct flash_row row;
    flash_row_begin(&row, Q + ((b * p->H + h) * p->Nq + i) * p->d, p->d);
    for (size_t j = 0; j < p->Nk; j++)
        if (visible(p, b, h, i, j))
            flash_row_update(&row, K + head + j * p->d, V + head + j * p->d, p->d, p->scale);
    flash_row_end(&row, o, p->d);
    if (lse)
        *lse = row.m + logf(row.l);
}

void flash_no_tiling(const struct attention *p, const float *Q, const float *K, const float *V,
                     float *O, float *lse)
{
    for (size_t b = 0; b < p->B; b++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t i = 0; i < p->Nq; i++) {
                const size_t row = (b * p->H + h) * p->Nq + i;
                flash_no_tiling_row(p, Q, K, V, b, h, i, O + row * p->d, lse ? lse + row : NULL);
            }
}
