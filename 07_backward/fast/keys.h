/*
 * A group of keys, one in every lane of COLUMNS vectors: chapter 05's group, turned round.
 *
 * There the queries stay and each has a lane. Here the keys stay, with their dK and dV: so each of them has a
 * lane. K and V are transposed once a group, dK and dV at its end; queries and dO stay as they lie in memory,
 * their elements are spread over the lanes one by one. Four of the five products are then chapter 05's
 * micro-kernel with B a row of the group. The fifth, dQ = dS K, sums over keys. For it the same micro-kernel has
 * elements of a row of K in its lanes, and dS gives the numbers that are spread.
 */
#ifndef BACKWARD_KEYS_H
#define BACKWARD_KEYS_H

#include "05_flash_tiled_cpu/fast/visibility.h"
#include "07_backward/steps/tile.h"

struct keys {
    group_row *K, *V, *dK, *dV;  // d rows each; dK lacks the scale
    group_row *rows;   // K as it lies, GROUP elements of a row: panel n, key c at [n GROUP + c]
    group_row *holed;  // the same with zeros for some keys; NULL without holes
    const group_row *seen;  // what the queries at hand see: rows, holed, or NULL for nothing
    size_t first, end;      // … from which key, and to which
    size_t q_first, q_end;  // … which of the queries: whole blocks of ROWS
    size_t j0, cols;        // the group's first key, and how many there are
};

/* Rows of d elements in panels of GROUP: how many panels. */
INLINE size_t panels_of(size_t d)
{
    return (d - 1) / GROUP + 1;
}

/* The next `count` of the rows that `left` points to. */
INLINE group_row *rows_take(group_row **left, size_t count)
{
    group_row *const rows = *left;
    *left += count;
    return rows;
}

/* How many rows a group takes for keys of d elements; with holes: a key may be hidden from all queries. */
size_t keys_rows(size_t d, bool holes);

/* A group in the next so many rows. */
struct keys keys_take(group_row **left, size_t d, bool holes);

/* The keys j0 … j0 + cols - 1 of the head, with dK = dV = 0; other lanes are 0 too. */
void keys_begin(struct keys *k, const struct backward_head *a, size_t j0, size_t cols);

/* What dQ and dK lack until they are stored: the scale, or nothing where the slope of a changed score has it. */
INLINE float gradient_factor(const struct attention *p)
{
    return score_option(p) ? 1.0f : p->scale;
}

/* Stores dK, times the factor, and dV. */
void keys_end(const struct keys *k, const struct backward_head *a);

/*
 * Which keys of the group the queries i0 … i0 + n - 1 see: row r is all ones in the lanes of those that
 * query i0 + r sees. No query attends to lanes past the last key.
 */
void keys_visible(visibility_row *seen, const struct keys *k, const struct backward_head *a,
                  size_t i0, size_t n);

/* Row r is 1/(1 - P) in the lanes of the keys that dropout keeps for query i0 + r, else 0. */
void keys_kept(group_row *Z, const struct keys *k, const struct backward_head *a, size_t i0,
               size_t n);

#endif
