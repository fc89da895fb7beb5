/*
 * Which queries of a group see which keys of a tile: `visible`, for a whole vector of queries at once.
 */
#ifndef FLASH_TILED_VISIBILITY_H
#define FLASH_TILED_VISIBILITY_H

#include "05_flash_tiled_cpu/fast/group.h"

/* Row r is all ones in the lanes of the queries that attend to key j0 + r. */
typedef ivec visibility_row[COLUMNS];

/* Room for n rows, to be released with extra_free((float *)rows). */
visibility_row *visibility_new(size_t n);

/* The keys j0 … j0 + n - 1, for all lanes of the group; those after its last query attend to what that one does. */
void visibility_fill(visibility_row *seen, const struct group *g, const struct head *a, size_t j0,
                     size_t n);

/* Does any query of the group attend to the key of this row? */
INLINE int visible_to_any(const visibility_row row)
{
    ivec all = row[0];
    for (int v = 1; v < COLUMNS; v++)
        all |= row[v];
    return vec_any(all);
}

/* Does one in another column than this? */
INLINE int visible_beyond(int column, const visibility_row row)
{
    ivec all = { 0 };
    for (int v = 0; v < COLUMNS; v++)
        if (v != column)
            all |= row[v];
    return vec_any(all);
}

#endif
