#include "common/program/story.h"

#include "common/measure/watch.h"
#include "common/program/report.h"

#include <stdio.h>
#include <string.h>

int story_tell(const struct options *options, const struct story_part *parts, size_t count)
{
    const bool list = strcmp(options->story, "list") == 0;
    bool told = list;
    for (const struct story_part *part = parts; part < parts + count; part++) {
        const bool chosen = strcmp(part->name, options->story) == 0;
        if (list)
            printf("%-12s %s\n", part->name, part->about);
        else if (chosen && part->counts && !CAN_WATCH)
            report_not_counted(part->name);
        else if (chosen)
            part->tell();
        told = told || chosen;
    }
    if (!told)
        options_fail("--story", "expected list or one of the parts that list prints, found '%s'",
                     options->story);
    return report_finish();
}
