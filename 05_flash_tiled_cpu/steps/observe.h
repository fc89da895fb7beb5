/*
 * Looking over a step's shoulder. The watched build of a step shows an observer, if there is one,
 * its fast memory twice a tile; the other build has nothing of it. --trace and the executable
 * theorem are observers.
 */
#ifndef FLASH_TILED_OBSERVE_H
#define FLASH_TILED_OBSERVE_H

#include "05_flash_tiled_cpu/steps/tile.h"

enum moment {
    SCORED,  // S has the scores of the tile
    DONE,    // S has its weights, and m, l and O have taken it in
};

typedef void observer(void *context, enum moment moment, const struct head *a, struct tile t,
                      const struct fast_memory *fast);

/* The watched steps show `who` what they do, until the next call. NULL: they show it to no one. */
void observe_with(observer *who, void *context);

void observe_now(enum moment moment, const struct head *a, struct tile t,
                 const struct fast_memory *fast);

#ifdef IS_WATCHED
#define observe observe_now
#else
static inline void observe(enum moment moment, const struct head *a, struct tile t,
                           const struct fast_memory *fast)
{
    (void)moment, (void)a, (void)t, (void)fast;
}
#endif

#endif
