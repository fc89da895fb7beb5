#include "common/tests/command.h"
#include "common/tests/softmax_program.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

#define PROGRAM "03_online_softmax"

TEST(program, tells_its_story_and_verifies_it)
{
    const char *const parts[] = {
        "By hand", "Merging", "share",  "164 rows", "53 792", "26 896",
        "80 688",  "3 N",     "0.5521", "0.6652",   "2.0562", "Compared"
    };
    assert_program_tells(PROGRAM, parts, sizeof parts / sizeof parts[0]);
}

TEST(program, takes_its_options)
{
    assert_program_takes_its_options(PROGRAM);
}

TEST(program, writes_what_numpy_reads)
{
    assert_program_writes_what_numpy_reads(PROGRAM);
}

TEST(program, takes_rows_of_minus_infinity_and_nan_as_ieee_has_them)
{
    const float x[6] = { -INFINITY, -INFINITY, -INFINITY, 1, NAN, 2 };
    command_array("x.npy", NPY_F4, 2, (size_t[]){ 2, 3 }, x);
    const struct command c = command_run("${BUILD:-build}/" PROGRAM " --input @/x.npy");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(program, has_no_factors_for_one_score_per_row)
{
    const struct command c = command_run("${BUILD:-build}/" PROGRAM " --rows 2 --cols 1");
    cr_assert(c.status == 0 && strstr(c.out, "no factor") && !strstr(c.out, "nan"),
              "status %d: %s%s", c.status, c.out, c.err);
}

TEST(program, refuses_bad_options)
{
    assert_program_refuses_bad_options(PROGRAM);
}

TEST(program, refuses_bad_files)
{
    assert_program_refuses_bad_files(PROGRAM);
}

TEST(program, refuses_bad_outputs_and_leaves_what_was_there)
{
    assert_program_refuses_bad_outputs(PROGRAM);
}

TEST(program, says_so_when_there_is_not_enough_memory)
{
    assert_program_refuses_too_much(PROGRAM);
}
