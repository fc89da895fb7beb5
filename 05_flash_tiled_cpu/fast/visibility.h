#ifndef FLASH_TILED_VISIBILITY_H
#define FLASH_TILED_VISIBILITY_H

#include "05_flash_tiled_cpu/fast/group.h"

/* In row r, a lane is all ones if its query attends to key j0 + r. */
typedef ivec visibility_row[COLUMNS];

visibility_row *visibility_new(size_t n);

/* n rows. Padding lanes repeat the last query. */
void visibility_fill(visibility_row *mask, const struct group *g, const struct head *a, size_t j0,
                     size_t n);

INLINE int visible_to_any(const visibility_row row)
{
    ivec all = row[0];
    for (int v = 1; v < COLUMNS; v++)
        all |= row[v];
    return vec_any(all);
}

/* Is the key visible outside vector `column`? */
INLINE int visible_outside(int column, const visibility_row row)
{
    ivec all = { 0 };
    for (int v = 0; v < COLUMNS; v++)
        if (v != column)
            all |= row[v];
    return vec_any(all);
}

#endif
