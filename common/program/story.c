#include "common/program/story.h"

#include "common/measure/watch.h"
#include "common/program/report.h"

#include <stdio.h>
#include <string.h>

static void print_list(const struct story_part *parts, size_t count)
{
    for (size_t k = 0; k < count; k++)
        printf("%-12s %s\n", parts[k].name, parts[k].about);
}

static const struct story_part *part_named(const char *name, const struct story_part *parts,
                                           size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(parts[k].name, name) == 0)
            return &parts[k];
    options_fail("--story", "expected list or one of the parts that list prints, found '%s'", name);
}

int story_tell(const struct options *options, const struct story_part *parts, size_t count)
{
    if (strcmp(options->story, "list") == 0) {
        print_list(parts, count);
        return report_finish();
    }
    const struct story_part *const part = part_named(options->story, parts, count);
    if (part->counts && !CAN_WATCH)
        report_not_counted(part->name);
    else
        part->tell();
    return report_finish();
}
