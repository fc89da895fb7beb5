/*
 * The last lines of `make run` (run.sh) and `make test` (tally.sh), with fake programs and results.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define TITLE \
    "chapter,accesses,counted,extra_bytes,milliseconds,error,previous,previous_error,verified\\n"

static void pretended(const char *row)
{
    char text[600];
    snprintf(text, sizeof text, "#!/bin/sh\nprintf '%s%s' >$3\n", TITLE, row);
    command_script("05_flash_tiled_cpu", text);
}

TEST(summary, of_a_run_fits_a_terminal_of_80_columns)
{
    pretended("05,2 d / key + …,99999999,1784444,1593.996033,7.692e-06,split,7.153e-06,yes\\n");
    const struct command c = command_run("sh common/tools/run.sh @ 05_flash_tiled_cpu");
    const char *const parts[] = { "\n05 flash tiled cpu",
                                  "99 999 999",
                                  "2 d / key + …",
                                  "1.78 MB",
                                  "7.7e-06",
                                  "7.2e-06",
                                  "1.59 s\n",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
    char text[sizeof c.out];
    memcpy(text, c.out, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t columns = 0;
        for (const char *at = line; *at; at++)
            columns += (*at & 0xC0) != 0x80;  // skips UTF-8 continuation bytes
        cr_assert(columns <= 80, "%zu columns: %s", columns, line);
    }
}

TEST(summary, of_a_run_without_a_table_is_a_failure)
{
    command_script("05_flash_tiled_cpu", "#!/bin/sh\n");
    struct command c = command_run("sh common/tools/run.sh @ 05_flash_tiled_cpu");
    cr_assert(c.status == 1 && strstr(c.err, "no table"), "status %d: %s%s", c.status, c.out,
              c.err);
    pretended("05,2 d,9,1,1,1,split,1,yes\\n");
    command_script("awk", "#!/bin/sh\nexit 2\n");
    c = command_run("PATH=@:$PATH sh common/tools/run.sh @ 05_flash_tiled_cpu");
    cr_assert(c.status == 1 && strstr(c.err, "no table"), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(summary, of_tests_tells_what_was_not_tried_and_why)
{
    command_text("05", "3 1 0\n");
    command_text("05.caught", "1 0 0\n");
    command_text("05.blind", "0 0 1 failing\n");
    command_text("05.changed", "0 0 1 changed\n");
    command_text("07.a", "1 0 0\n");  // of an earlier run
    script_prints(
        "cd @ && sh \"$OLDPWD\"/common/tools/tally.sh 05 07 05.caught 05.blind 05.changed 07.a "
        "07.b",
        1,
        (const char *const[]){
            "07: did not build", "2 wrong versions of 07 were not tried: its tests did not build",
            "1 wrong version was not tried: they are made from the lesson",
            "1 wrong version was not tried: the tests that reject them fail without them",
            "failed: 05 07\n4 passed, 2 failed, 4 skipped\n", NULL });
    // After a student's own tests failed, the rest is not tried.
    script_prints("cd @ && STUDENT=yes sh \"$OLDPWD\"/common/tools/tally.sh 05 05.caught 05.gone",
                  1,
                  (const char *const[]){ "2 wrong versions of 05 were not tried: its tests fail",
                                         "3 passed, 1 failed, 2 skipped\n", NULL });
    command_text("05.half", "3 0\n");
    script_prints("cd @ && sh \"$OLDPWD\"/common/tools/tally.sh 05.caught 05.half", 1,
                  (const char *const[]){ "05.half: did not build",
                                         "failed: 05.half\n1 passed, 1 failed", NULL });
    // A missing result of a chapter whose tests exist is a failure.
    script_prints("cd @ && sh \"$OLDPWD\"/common/tools/tally.sh 05.caught 05.gone", 1,
                  (const char *const[]){ "05.gone: did not build, or left no result",
                                         "1 passed, 1 failed, 0 skipped\n", NULL });
}
