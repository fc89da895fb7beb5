/* What a chapter's pages show but its screen has no room for: named parts, which --story prints. */
#ifndef COMMON_STORY_H
#define COMMON_STORY_H

#include "common/program/options.h"

#include <stdbool.h>
#include <stddef.h>

struct story_part {
    const char *name, *about;
    void (*tell)(void);
    bool counts;  // accesses, so it needs the instrumented build (watch.h)
};

/* Prints the part that --story names, or their list. Returns the exit status. */
int story_tell(const struct options *options, const struct story_part *parts, size_t count);

#endif
