/*
 * The program as a reader runs it: its story, every kernel, and every option.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define NAME "06_flash_tiled_cuda"
#define SHAPE "--batch 2 --heads 4 --kv-heads 2 --n-q 103 --n-k 61 --d 40 "

static void verifies_and_tells(const char *arguments, const char *const parts[])
{
    command_verified(NAME, arguments, parts);
}

// ---- the story ----------------------------------------------------------------------------------

TEST(program, fits_on_a_screen_that_ends_with_a_verdict)
{
    const char *const parts[] = { "06  Flash attention, tiled",
                                  "First steps",
                                  "Kernels",
                                  " naive",
                                  " fa1",
                                  " fa2",
                                  "   complete",
                                  "Input",
                                  "common/data/",
                                  "Grid",
                                  "complete: 16 blocks of 128 threads",
                                  "Counted",
                                  "all ",
                                  "Compared with",
                                  "double reference",
                                  "its lse",
                                  "05 complete",
                                  "complete ran on",
                                  "Next",
                                  "07_backward",
                                  NULL };
    const struct command c = command_verified(NAME, "", parts);
    cr_assert(lines_of(c.out) <= 50, "%d lines", lines_of(c.out));
}

TEST(program, tells_each_part_of_its_story)
{
    command_story(NAME, "first_steps", (const char *const[]){ "First steps", "= 500500", NULL });
    command_story(NAME, "by_hand",
                  (const char *const[]){ "By hand",
                                         "with lane k xor 4          9   9   9   9   9   9   9   9",
                                         NULL });
    command_refused(NAME, "--story by_foot", "--story: expected list or one");
}

TEST(program, leaves_the_story_out_where_something_else_is_asked_for)
{
    const char *const others[] = { "--traffic", "--step all --n-q 9", "--seed 3", "--n-k 9" };
    for (unsigned k = 0; k < sizeof others / sizeof others[0]; k++) {
        const struct command c = command_verified(NAME, others[k], NULL);
        cr_assert(!strstr(c.out, "First steps") && !strstr(c.out, "Next") && strstr(c.out, "Input"),
                  "%s: it printed: %s", others[k], c.out);
    }
    const struct command c = command_verified(NAME, "--quiet", NULL);
    cr_assert(is_one_line_with(c.out, "ok"), "--quiet: it printed: %s", c.out);
    cr_assert(strlen(c.out) <= 101, "--quiet: wider than 100: %s", c.out);
}

// ---- kernels ------------------------------------------------------------------------------------

TEST(program, runs_every_kernel_by_its_name)
{
    const char *const names[] = { "naive", "fa1", "fa2", "complete" };
    const char *const before[] = { "05 complete", "naive", "fa1", "05 complete" };
    for (int k = 0; k < 4; k++) {
        char arguments[100], grid[40];
        snprintf(arguments, sizeof arguments, "--n-q 33 --n-k 40 --d 16 --causal --step %s",
                 names[k]);
        snprintf(grid, sizeof grid, "%s: ", names[k]);
        verifies_and_tells(arguments,
                           (const char *const[]){ "Grid", grid, "Counted", "Compared with",
                                                  before[k], "ran on the CPU", NULL });
    }
    verifies_and_tells("--n-q 33 --n-k 40 --d 16 --step all",
                       (const char *const[]){ "Kernels", "naive ", " 05\n", "fa1 ", "naive\n",
                                              "fa2 ", "fa1\n", "complete ", NULL });
}

TEST(program, says_of_every_kernel_what_it_lacks)
{
    const char *const options[] = { "--window 2,2", "--block-mask band:3", "--key-mask @/m.npy",
                                    "--dropout 0.5" };
    command_zeros("m.npy", NPY_B1, 2, (size_t[]){ 1, 9 });
    for (unsigned k = 0; k < sizeof options / sizeof options[0]; k++) {
        char arguments[100], part[100];
        snprintf(arguments, sizeof arguments, "--n-q 9 --d 16 --step all %s", options[k]);
        snprintf(part, sizeof part, "does not support %.*s\n", (int)strcspn(options[k], " "),
                 options[k]);
        verifies_and_tells(arguments,
                           (const char *const[]){ part, part, part, "complete  ", NULL });
    }
    verifies_and_tells(
        "--n-q 9 --d 40 --step all",
        (const char *const[]){ "does not support d = 40 (d is 16, 32, 64, 96 or 128)", "complete  ",
                               NULL });
}

/* fa2 is compared with chapter 05 and not with fa1. */
TEST(program, leaves_kernels_out_that_are_named)
{
    const struct command c =
        program_run("06_flash_tiled_cuda", "--n-q 40 --d 16 --step all --exclude fa1,naive");
    const char *const parts[] = {
        " naive      is excluded", " fa1        is excluded", " fa2 ", " 05\n", "complete", NULL
    };
    cr_assert(c.status == 0 && !missing_part(c.out, parts), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(program, lists_its_kernels)
{
    static const enum dtype types[] = { DTYPE_F32, DTYPE_F16 };
    verifies_and_tells("--step list", (const char *const[]){ " 1  naive ", "\n 2  fa1 ", "\n10  ",
                                                             "\n    complete ", NULL });
    for (size_t t = 0; t < 2; t++) {
        char arguments[60], expected[1000] = "";
        snprintf(arguments, sizeof arguments, "--step list --quiet --dtype %s",
                 dtype_name(types[t]));
        for (size_t k = 0; k < KERNELS; k++) {
            const size_t used = strlen(expected);
            if (step_takes_type(&table.steps[k], types[t]))
                snprintf(expected + used, sizeof expected - used, "%s\n", table.steps[k].name);
        }
        const struct command names = command_verified(NAME, arguments, NULL);
        cr_assert(strcmp(names.out, expected) == 0, "it printed: %s", names.out);
    }
    cr_assert(table.count == KERNELS && strcmp(table.steps[COMPLETE].name, "complete") == 0,
              "run.h names other kernels than the table has");
    cr_assert(!step_takes_type(&table.steps[FA2], DTYPE_F16) &&
                  !step_takes_type(&table.steps[MMA], DTYPE_F32),
              "fa2 is for float32, mma for 16 bits");
}

TEST(program, tells_of_its_device)
{
    verifies_and_tells("--device-info --device cpu",
                       (const char *const[]){ "Device", "multiprocessors, warps of 32 threads",
                                              "shared memory a block", "GFLOP/s",
                                              "not a GPU's speed", NULL });
    const struct command c = program_run("06_flash_tiled_cuda",
                                         "--device-info --device cpu --csv @/d.csv && cat @/d.csv");
    const char *const lines[] = { "device,what,value\n",
                                  "cpu,bytes of shared memory a block,49152\n",
                                  "cpu,GB/s of a kernel that copies,", "core,bytes of L1 cache,",
                                  NULL };
    cr_assert(c.status == 0 && !missing_part(c.out, lines), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(program, does_every_option_together)
{
    unsigned char keys[2 * 61], blocks[4 * 3];
    for (size_t k = 0; k < sizeof keys; k++)
        keys[k] = k % 7 != 0 && k < 90;
    for (size_t k = 0; k < sizeof blocks; k++)
        blocks[k] = k % 3 != 0;
    command_array("m.npy", NPY_B1, 2, (size_t[]){ 2, 61 }, keys);
    command_array("b.npy", NPY_U1, 2, (size_t[]){ 4, 3 }, blocks);
    const char *const sets[] = {
        "--causal --key-mask @/m.npy --block-mask @/b.npy --mask-block 32,25 --dropout 0.3",
        ("--causal=top-left --window 20,3 --scale -0.5 --block-mask band:30 --dropout 0.5 "
         "--dropout-seed 9 --threads 3"),
        "--window 60,-1 --key-mask @/m.npy --block-mask random:0.4:5 --mask-block 10,20 --scale 0",
        "--block-mask random:0:1 --verify=all --seed 4",
        "--causal=bottom-right --block-mask band:0 --mask-block 1,1 --dropout 0.999 --threads 1",
    };
    for (unsigned k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        char arguments[400];
        snprintf(arguments, sizeof arguments, SHAPE "%s --step all", sets[k]);
        command_verified(NAME, arguments, NULL);
        snprintf(arguments, sizeof arguments, SHAPE "%s --quiet", sets[k]);
        cr_assert(is_one_line_with(command_verified(NAME, arguments, NULL).out, "ok"),
                  "%s: not one line", arguments);
    }
}

TEST(program, never_passes_for_a_gpu_that_is_not_there)
{
    const char *const wanted[] = { "--device gpu --output @/o.npy", "--device-info --device gpu" };
    struct command c;
    for (unsigned k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        c = program_run("06_flash_tiled_cuda", wanted[k]);
        if (c.status == 0)
            return;  // there is one
        cr_assert(c.status == 77 && strstr(c.err, "SKIPPED: no GPU") && !*c.out &&
                      command_files() == 0,
                  "%s: status %d: %s%s", wanted[k], c.status, c.out, c.err);
    }
    c = program_run("06_flash_tiled_cuda", "--n-q 20 --d 16 --device auto");
    cr_assert(c.status == 0 && strstr(c.out, "complete ran on the CPU, standing in for a GPU"),
              "status %d: %s%s", c.status, c.out, c.err);
}
