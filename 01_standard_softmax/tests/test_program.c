#include "common/tests/command.h"
#include "common/tests/softmax_program.h"
#include "common/tests/test.h"

#include <string.h>

#define PROGRAM "01_standard_softmax"

TEST(program, tells_its_story_and_verifies_it)
{
    const char *const parts[] = { "By hand",    "0.6439",  "Overflow",   "NaN",
                                  "times 9.26", "row 136", "164 of 164", "80 688" };
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

TEST(program, names_the_rows_that_have_no_numbers_and_exits_with_1)
{
    const float x[6] = { 1, 2, 3, 1, 2, 300 };
    command_array("x.npy", NPY_F4, 2, (size_t[]){ 2, 3 }, x);
    const struct command c =
        command_run("${BUILD:-build}/" PROGRAM " --input @/x.npy --output @/y.npy");
    cr_assert(c.status == 1, "status %d: %s%s", c.status, c.out, c.err);
    cr_assert(strstr(c.out, "1 row of 2 with NaN or inf") && strstr(c.out, "row 1"),
              "it printed: %s", c.out);
    cr_assert(strstr(c.out, "WRONG") && strstr(c.out, "row, column = 1, 2"), "it printed: %s",
              c.out);
    cr_assert(command_made("y.npy"), "it wrote nothing");
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
