/* The instrumented build calls an observer twice per tile, for --trace and theorem_check. */
#ifndef FLASH_TILED_OBSERVE_H
#define FLASH_TILED_OBSERVE_H

#include "05_flash_tiled_cpu/steps/tile.h"

enum moment {
    SCORED,  // S holds scores
    DONE,    // S holds weights; m, l and O are updated
};

typedef void observer(void *context, enum moment moment, const struct head *a, struct tile t,
                      const struct fast_memory *fast);

/* Replaces the observer; NULL removes it. */
void set_observer(observer *callback, void *context);

extern observer *observing;
extern void *observe_context;

#ifdef IS_WATCHED
#define observe(moment, a, t, fast) \
    (observing ? observing(observe_context, moment, a, t, fast) : (void)0)
#else
#define observe(moment, a, t, fast) ((void)(fast))
#endif

#endif
