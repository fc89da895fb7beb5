/*
 * A group of keys, one per lane of COLUMNS vectors.
 *
 * K and V are transposed once, dK and dV at the end. All five products use chapter 05's
 * micro-kernel; dQ = dS K sums over keys, so its lanes hold elements of K, in panels of GROUP.
 */
#ifndef BACKWARD_KEYS_H
#define BACKWARD_KEYS_H

#include "05_flash_tiled_cpu/fast/visibility.h"
#include "07_backward/steps/tile.h"

struct keys {
    group_row *K, *V, *dK, *dV;  // d rows each; dK is unscaled
    group_row *K_rows;           // K untransposed: panel n, key c at [n GROUP + c]
    group_row *with_zeros;       // the same with masked keys 0, or NULL
    const group_row *selected;   // K_rows, with_zeros, or NULL if skipped
    size_t first, end;           // lanes of visible keys
    size_t q_first, q_end;       // their queries in the tile, multiples of ROWS
    size_t j0, cols;             // first key, number of keys
};

INLINE size_t panel_count(size_t d)
{
    return (d - 1) / GROUP + 1;
}

INLINE group_row *rows_take(group_row **left, size_t count)
{
    group_row *const rows = *left;
    *left += count;
    return rows;
}

/* The rows that keys_new takes from `left`. */
size_t keys_rows(size_t d, bool has_masked_keys);
struct keys keys_new(group_row **left, size_t d, bool has_masked_keys);

/* Loads keys, 0 in unused lanes; dK = dV = 0. */
void keys_begin(struct keys *k, const struct backward_head *a, size_t j0, size_t cols);

/* For dQ and dK: the scale, or 1 if a modified score's slope includes it. */
INLINE float gradient_factor(const struct attention *p)
{
    return score_option(p) ? 1.0f : p->scale;
}

void keys_end(const struct keys *k, const struct backward_head *a);

/* Row r is all ones in lanes of keys that query i0 + r attends to. */
void keys_visible(visibility_row *mask, const struct keys *k, const struct backward_head *a,
                  size_t i0, size_t n);

/* Row r: 1/(1 - p->dropout) for weights of query i0 + r that dropout keeps, else 0. */
void keys_dropout_factors(group_row *Z, const struct keys *k, const struct backward_head *a,
                          size_t i0, size_t n);

#endif
