#include "common/tests/command.h"
#include "common/tests/softmax_program.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

#define PROGRAM "02_safe_softmax"

TEST(program, tells_its_story_and_verifies_it)
{
    const char *const parts[] = { "By hand",  "0.6439",  "m = 300", "Repaired",
                                  "0 of 164", "107 584", "4 N",     "01 standard" };
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

TEST(program, says_where_chapter_01_has_no_numbers_and_lets_the_reference_stand_in)
{
    const float x[6] = { 1, 2, 3, 1, 2, 300 };
    command_array("x.npy", NPY_F4, 2, (size_t[]){ 2, 3 }, x);
    const struct command c = command_run("${BUILD:-build}/" PROGRAM " --input @/x.npy");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    cr_assert(strstr(c.out, "01 standard softmax is itself wrong in 1 row, first in row 1"),
              "it printed: %s", c.out);
}

TEST(program, takes_rows_of_infinities_and_nan_as_ieee_has_them)
{
    const float x[12] = { -INFINITY, -INFINITY, -INFINITY, 1, INFINITY, 2, 1, NAN, 2, 1, 2, 3 };
    command_array("x.npy", NPY_F4, 2, (size_t[]){ 4, 3 }, x);
    const struct command c = command_run("${BUILD:-build}/" PROGRAM " --input @/x.npy");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
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
