/*
 * One row of attention, one pass over K and V.                            2nd + 2d accesses
 *
 *     x     = scale q.k_j
 *     m_new = max(m, x)                                                   initially m = -inf
 *     l_new = l e^{m - m_new} + e^{x - m_new}                             l = 0
 *     o     = o (l e^{m - m_new} / l_new) + v_j (e^{x - m_new} / l_new)   o = 0
 *
 * m and l are chapter 03's. o is the output for the keys so far: a new key scales it by the old
 * keys' share of the weight and adds its value times its own.
 */
#include "04_flash_no_tiling/flash_row.h"

#include "03_online_softmax/softmax_state.h"

#include <math.h>

void flash_row_begin(struct flash_row *row, const float *q, size_t d)
{
    row->m = -INFINITY;
    row->l = 0.0f;
    for (size_t c = 0; c < d; c++) {
        row->q[c] = q[c];
        row->o[c] = 0.0f;
    }
}

void flash_row_update(struct flash_row *row, const float *k, const float *v, size_t d, float scale)
{
    // BEGIN SOLUTION
    float x = 0.0f;
    for (size_t c = 0; c < d; c++)
        x += row->q[c] * k[c];
    x *= scale;

    const float m_new = fmaxf(row->m, x);
    const float old = row->l * exp_minus(row->m, m_new), term = exp_minus(x, m_new);
    const float l_new = old + term;
    if (l_new == 0.0f)
        return;  // all scores so far are -inf
    for (size_t c = 0; c < d; c++)
        row->o[c] = row->o[c] * (old / l_new) + v[c] * (term / l_new);
    row->m = m_new;
    row->l = l_new;
    // END SOLUTION
    // STUB: (void)row, (void)k, (void)v, (void)d, (void)scale;
}

void flash_row_end(const struct flash_row *row, float *o, size_t d)
{
    for (size_t c = 0; c < d; c++)
        o[c] = row->o[c];
}

void flash_row(const float *q, const float *K, const float *V, float *o, size_t n, size_t d,
               float scale)
{
    struct flash_row row;
    flash_row_begin(&row, q, d);
    for (size_t j = 0; j < n; j++)
        flash_row_update(&row, K + j * d, V + j * d, d, scale);
    flash_row_end(&row, o, d);
}
