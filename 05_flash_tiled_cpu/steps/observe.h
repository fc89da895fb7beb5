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

extern observer *observing;
extern void *observe_context;

#ifdef IS_WATCHED
#define observe(moment, a, t, fast) \
    (observing ? observing(observe_context, moment, a, t, fast) : (void)0)
#else
#define observe(moment, a, t, fast) ((void)(fast))
#endif

#endif
