/*
 * A group of queries, one in every lane of COLUMNS vectors.
 *
 * So everything that belongs to queries lies transposed: Q^T and O^T have d rows, of one element of every
 * query, S^T and P^T a row for each key. The products are S^T = K Q^T and O^T = O^T + V^T P^T.
 *
 * Only the queries are transposed, once. Keys and values stay as they lie in memory: their elements
 * are spread over the lanes one by one as they are needed, and no sum ever goes across lanes.
 */
#ifndef FLASH_TILED_GROUP_H
#define FLASH_TILED_GROUP_H

#include "05_flash_tiled_cpu/fast/exp2.h"
#include "05_flash_tiled_cpu/fast/micro_kernel.h"
#include "05_flash_tiled_cpu/steps/tile.h"

enum { GROUP = COLUMNS * LANES };

/* Vectors side by side: one number of every query. A tile of scores has such a row for each key. */
typedef vec group_row[COLUMNS];

/* Q is times the scale's sign; O is undivided. Where scores are changed (score.h) the scale is 1 here. */
struct group {
    group_row *Q, *O;            // d rows each
    vec m[COLUMNS], l[COLUMNS];  // m begins at -FLT_MAX: below all scores but -inf; x - m is no NaN
    size_t i0, rows;             // the first query, and how many there are
    struct scale scale;
};

/* Room for a group with rows of d elements, to be released with group_free. */
struct group group_new(size_t d);
void group_free(struct group *g);

/* Room for n rows, to be released with extra_free((float *)rows). */
group_row *group_rows_new(size_t n);

/* The queries i0 … i0 + rows - 1 of the head, which have seen nothing; other lanes repeat the last. */
void group_begin(struct group *g, const struct head *a, size_t i0, size_t rows);

/* Divides O by l and stores it, and lse. */
void group_end(const struct group *g, const struct head *a);

/* The queries' rows of O, d elements each, times `factor`. */
void group_store(const struct group *g, size_t d, const vec factor[COLUMNS], float *O);

/* The lanes' own queries, 0, 1, 2, … in vector v of a group. */
INLINE ivec group_lanes(int v)
{
    static const int32_t number[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    ivec lanes;
    memcpy(&lanes, number, sizeof lanes);
    return lanes + v * LANES;
}

#endif
