#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdlib.h>

TEST(resident, says_what_a_program_had_and_whether_it_ended_well)
{
    struct command c = command_run(
        "${BUILD:-build}/peers/resident dd if=/dev/zero of=/dev/null bs=67108864 count=1 2>@/err");
    const long long bytes = strtoll(c.out, NULL, 10);
    cr_assert(c.status == 0 && bytes > 60000000 && bytes < 500000000, "status %d: %s", c.status,
              c.out);
    c = command_run("${BUILD:-build}/peers/resident false");
    cr_assert(c.status == 1 && !*c.out, "status %d: %s", c.status, c.out);
}
