/*
 * A group of queries, one per lane of COLUMNS vectors.
 *
 * Q^T and O^T have d rows, S^T and P^T a row per key: S^T = K Q^T, O^T += V^T P^T. Elements of
 * keys and values are broadcast, and no sum crosses lanes.
 */
#ifndef FLASH_TILED_GROUP_H
#define FLASH_TILED_GROUP_H

#include "05_flash_tiled_cpu/fast/exp2.h"
#include "05_flash_tiled_cpu/fast/micro_kernel.h"
#include "05_flash_tiled_cpu/steps/tile.h"

enum { GROUP = COLUMNS * LANES };

typedef vec group_row[COLUMNS];

/* Q includes the scale's sign; O is not yet divided by l. scale is 1 if vec_score applies it. */
struct group {
    group_row *Q, *O;
    vec m[COLUMNS], l[COLUMNS];
    size_t i0, rows;
    struct scale scale;
};

struct group group_new(size_t d);
void group_free(struct group *g);

/* n rows of GROUP floats; release with extra_free((float *)rows). */
group_row *group_rows_new(size_t n);

/* rows <= GROUP. m = -FLT_MAX, l = 0, O = 0. Unused lanes repeat the last query. */
void group_begin(struct group *g, const struct head *a, size_t i0, size_t rows);

/* Stores O / l (0 if l is 0) and lse. */
void group_end(const struct group *g, const struct head *a);

/* O (rows, d) = the transpose of O^T factor. */
void group_store(const struct group *g, size_t d, const vec factor[COLUMNS], float *O);

/* The queries of vector v, counted from the group's first. */
INLINE ivec group_lanes(int v)
{
    static const int32_t number[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    ivec lanes;
    memcpy(&lanes, number, sizeof lanes);
    return lanes + v * LANES;
}

#endif
