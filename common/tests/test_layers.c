/*
 * layers.sh: includes go down, and in no circle.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

/* What it says of a course with two files, each of which includes something. */
static struct command layers(const char *one, const char *included, const char *other,
                             const char *by_that)
{
    char words[400];
    snprintf(words, sizeof words,
             "mkdir -p @/common/cpu @/common/check @/common/program @/05_x/steps @/05_x/program && "
             "echo '#include \"%s\"' >@/%s && echo '#include \"%s\"' >@/%s && "
             "top=$PWD && cd @ && sh \"$top/common/tools/layers.sh\"",
             included, one, by_that, other);
    return command_run(words);
}

static void says(struct command c, const char *part)
{
    cr_assert(c.status == 1 && strstr(c.out, part), "status %d, expected \"%s\": %s%s", c.status,
              part, c.out, c.err);
}

TEST(layers, includes_that_go_down_are_right)
{
    const struct command c = layers("05_x/program/a.c", "common/check/tolerance.h",
                                    "common/check/tolerance.h", "common/cpu/memory.h");
    cr_assert(c.status == 0 && !*c.out && !*c.err, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(layers, an_include_that_goes_up_is_named_with_both_files)
{
    says(layers("common/cpu/memory.h", "common/check/tolerance.h", "common/program/a.c",
                "common/cpu/memory.h"),
         "common/cpu/memory.h:1: includes common/check/tolerance.h, which is above it");
    says(layers("common/program/a.c", "05_x/program/a.h", "05_x/program/b.c", "common/cpu/a.h"),
         "common/program/a.c:1: includes 05_x/program/a.h, which is above it");
}

TEST(layers, a_circle_of_folders_is_named)
{
    says(layers("05_x/steps/a.h", "05_x/program/b.h", "05_x/program/c.h", "05_x/steps/d.h"),
         "05_x/steps");
}

TEST(layers, a_path_that_is_not_from_the_top_is_named)
{
    says(layers("common/program/a.c", "report.h", "common/program/b.c", "common/cpu/a.h"),
         "common/program/a.c:1: report.h: expected a path from the top of the course");
}
