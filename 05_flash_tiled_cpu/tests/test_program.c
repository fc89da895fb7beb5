/*
 * The program as a reader runs it: its story, every step and option, and what it writes. What it
 * refuses is in test_refusals.c, what it writes for other programs in test_outputs.c.
 */
#include "05_flash_tiled_cpu/program.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/05_flash_tiled_cpu "
#define SHAPE "--batch 2 --heads 4 --kv-heads 2 --n-q 203 --n-k 113 --d 40 "
#define ISSUE SHAPE "--causal --window 50,0 --dropout 0.1 --br 16 --bc 24 "

static struct command verifies(const char *arguments)
{
    return command_verified("05_flash_tiled_cpu", arguments, NULL);
}

static void verifies_and_tells(const char *arguments, const char *const parts[])
{
    command_verified("05_flash_tiled_cpu", arguments, parts);
}

// ---- the story ----------------------------------------------------------------------------------

TEST(program, fits_on_a_screen_that_ends_with_a_verdict)
{
    const char *const parts[] = { "05  Flash attention, tiled",
                                  "By hand",
                                  "[0.393 0.269 0.731]",
                                  "Steps",
                                  " standard",
                                  " masks",
                                  "Input",
                                  "common/data/",
                                  "Tiles",
                                  "72 skipped",
                                  "Counted",
                                  "K loads",
                                  "Compared with",
                                  "double reference",
                                  "its lse",
                                  "04 no tiling",
                                  "Next",
                                  "06_flash_tiled_cuda",
                                  NULL };
    const struct command c = command_verified("05_flash_tiled_cpu", "", parts);
    cr_assert(lines_of(c.out) <= 50, "%d lines", lines_of(c.out));
}

TEST(program, tells_each_part_of_its_story)
{
    const struct {
        const char *name, *parts[4];
    } story[] = {
        { "by_hand", { "By hand", "[0.393 0.269 0.731]" } },
        { "theorem_2", { "Theorem 2", "4096", "0.63 d^2" } },
        { "cost", { "Cost", "2 097 152" } },
        { "masks", { "Masks", "--causal --window 64,0", "random:0.1:1" } },
        { "dropout", { "Dropout", "of 131 072 weights stay" } },
        { "bias", { "Bias", "a matrix (H, N, N)" } },
        { "splits", { "Splits", "8 splits of 512 keys" } },
    };
    for (size_t k = 0; k < sizeof story / sizeof story[0]; k++)
        command_story("05_flash_tiled_cpu", story[k].name, story[k].parts);
    command_refused("05_flash_tiled_cpu", "--story masques", "--story: expected list or one");
    command_refused("05_flash_tiled_cpu", "--story masks --causal", "--story: expected no other");
}

TEST(program, leaves_the_story_out_where_something_else_is_asked_for)
{
    const char *const others[] = { "--traffic", "--step all --n-q 9", "--seed 3", "--causal" };
    for (unsigned k = 0; k < sizeof others / sizeof others[0]; k++) {
        const struct command c = verifies(others[k]);
        cr_assert(!strstr(c.out, "By hand") && !strstr(c.out, "Next") && strstr(c.out, "Input"),
                  "%s: it printed: %s", others[k], c.out);
    }
    const struct command c = verifies("--quiet");
    cr_assert(is_one_line_with(c.out, "ok"), "--quiet: it printed: %s", c.out);
}

// ---- steps --------------------------------------------------------------------------------------

TEST(program, does_the_problem_of_the_issue)
{
    const char *const one[] = { "Nq 203, Nk 113, d 40",
                                "complete, with Br = 16 queries and Bc = 24 keys",
                                "Counted",
                                "Compared with",
                                "double reference",
                                "its lse",
                                NULL };
    const char *const all[] = { " standard     does not support --dropout",
                                " block_matmul does not support --dropout",
                                " fa1          does not support --dropout",
                                " fa2          does not support --dropout",
                                " masks        does not support --dropout",
                                " dropout  ",
                                " split_kv  ",
                                " softcap  ",
                                "dropout\n",
                                "  complete  ",
                                NULL };
    verifies_and_tells(ISSUE, one);
    verifies_and_tells(ISSUE "--step all", all);
}

TEST(program, says_of_every_step_what_it_lacks)
{
    verifies_and_tells("--n-q 9 --d 3 --step all --softcap 2",
                       (const char *const[]){ " masks        does not support --softcap",
                                              " dropout      does not support --softcap",
                                              " split_kv     does not support --softcap",
                                              " softcap  ", "complete  ", " softcap\n", NULL });
    const char *const options[] = { "--causal", "--window 2,2", "--block-mask band:3",
                                    "--key-mask @/m.npy" };
    command_zeros("m.npy", NPY_B1, 2, (size_t[]){ 1, 9 });
    for (unsigned k = 0; k < sizeof options / sizeof options[0]; k++) {
        char arguments[100], part[100];
        snprintf(arguments, sizeof arguments, "--n-q 9 --d 3 --step all %s", options[k]);
        snprintf(part, sizeof part, "does not support %.*s\n", (int)strcspn(options[k], " "),
                 options[k]);
        verifies_and_tells(arguments, (const char *const[]){ part, part, part, part, " masks  ",
                                                             " dropout  ", NULL });
    }
}

TEST(program, runs_every_step_by_its_name)
{
    const char *before = "04 no tiling";  // the nearest earlier step that writes lse, or chapter 04
    for (size_t k = 0; k < table.count; k++) {
        char arguments[100], with[40];
        snprintf(arguments, sizeof arguments, "--n-q 33 --n-k 40 --d 5 --heads 2 --step %s",
                 table.steps[k].name);
        const bool fast = !table.steps[k].formula;  // it is not counted
        snprintf(with, sizeof with, fast ? "Counted" : "%s, with Br = ", table.steps[k].name);
        verifies_and_tells(
            arguments, (const char *const[]){ with, fast ? "not counted: the step" : "Counted",
                                              "Compared with", "double reference",
                                              table.steps[k].is_product ? "\n" : before, NULL });
        if (table.steps[k].supports & SUPPORTS_LSE && !(table.steps[k].supports & SUPPORTS_SCORE))
            before = table.steps[k].name;
    }
    verifies_and_tells("--n-q 33 --n-k 40 --d 5 --step all",
                       (const char *const[]){ "Steps", "standard", "04 no tiling\n", "block_matmul",
                                              "-\n", "fa1", "04 no tiling\n", "fa2", "fa1\n",
                                              "complete", "\n", NULL });
}

TEST(program, lists_its_steps)
{
    verifies_and_tells("--step list",
                       (const char *const[]){ " 0  standard ", "\n 1  block_matmul ", "\n 2  fa1 ",
                                              "\n    complete ", NULL });
    const struct command names = verifies("--step list --quiet");
    char expected[1000] = "";
    for (size_t k = 0; k < table.count; k++) {
        const size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s\n", table.steps[k].name);
    }
    cr_assert(strcmp(names.out, expected) == 0, "--quiet: it printed: %s", names.out);
}

// ---- options ------------------------------------------------------------------------------------

TEST(program, does_every_option_together)
{
    unsigned char keys[2 * 113], blocks[7 * 5];
    for (size_t k = 0; k < sizeof keys; k++)
        keys[k] = k % 7 != 0 && k < 150;
    for (size_t k = 0; k < sizeof blocks; k++)
        blocks[k] = k % 3 != 0;
    command_array("m.npy", NPY_B1, 2, (size_t[]){ 2, 113 }, keys);
    command_array("b.npy", NPY_U1, 2, (size_t[]){ 7, 5 }, blocks);
    const char *const sets[] = {
        "--causal --key-mask @/m.npy --block-mask @/b.npy --mask-block 32,25 --dropout 0.3",
        ("--causal=top-left --window 20,3 --scale -0.5 --block-mask band:30 --dropout 0.5 "
         "--dropout-seed 9 --br 7 --bc 64 --threads 3"),
        "--window 60,-1 --key-mask @/m.npy --block-mask random:0.4:5 --mask-block 10,20 --scale 0",
        "--block-mask random:0:1 --sram 500 --verify=all --seed 4",
        "--causal=bottom-right --block-mask band:0 --mask-block 1,1 --dropout 0.999 --threads 1",
    };
    for (unsigned k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        char arguments[400];
        snprintf(arguments, sizeof arguments, SHAPE "%s --step all", sets[k]);
        verifies(arguments);
        snprintf(arguments, sizeof arguments, SHAPE "%s --quiet", sets[k]);
        cr_assert(is_one_line_with(verifies(arguments).out, "ok"), "%s: not one line", arguments);
    }
}

/* The scores' last bits decide between two keys here, and the textbook's error happens to be small. */
TEST(program, verifies_right_results_of_large_scores)
{
    static const char *const runs[] = { "--scale 5 --n-q 1 --n-k 256 --d 64 --seed 5",
                                        "--scale 100 --n-q 100 --n-k 256 --d 64 --seed 16",
                                        "--scale 100000 --n-q 100 --n-k 64 --d 16 --seed 514" };
    for (unsigned k = 0; k < sizeof runs / sizeof runs[0]; k++)
        verifies_and_tells(runs[k], (const char *const[]){ "double reference", NULL });
}

TEST(program, tells_tiles_from_any_sizes)
{
    const struct {
        const char *arguments, *sizes, *tiles;
    } runs[] = {
        { "--br 1", "Br = 1 queries and Bc = 128 keys\n", "10 tiles full, 0 partial, 0 skipped" },
        { "--bc 1", "and Bc = 1 keys\n", " 7 tiles full, 0 partial, 0 skipped" },
        { "--br 1 --bc 1", "Br = 1 queries and Bc = 1 keys\n", "70 tiles full" },
        { "--br 1000000000 --bc 1000000000", "and Bc = 1000000000 keys\n", " 1 tiles full" },
        { "--br 4 --bc 4 --causal=top-left", "", " 3 tiles full, 2 partial, 1 skipped" },
        { "--sram 24", "complete, with Br = 2 queries and Bc = 2 keys\n", "20 tiles full" },
        { "--sram 24 --step fa1", "fa1, with Br = 2 queries and Bc = 2", "20 tiles full" },
        { "--sram 24 --step standard", "Br = 4 queries and Bc = 4 keys\n", " 6 tiles full" },
        { "--sram 1 --step dropout", "Br = 1 queries and Bc = 1 keys\n", "where M is 1\n" },
    };
    for (unsigned k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "--n-q 10 --n-k 7 --d 3 %s", runs[k].arguments);
        verifies_and_tells(arguments,
                           (const char *const[]){ runs[k].sizes, runs[k].tiles, "Counted", NULL });
    }
    verifies_and_tells(
        "--n-q 1 --n-k 513 --d 3 --br 1 --bc 100 --step split_kv",
        (const char *const[]){ "keys in", "splits", "split m stores", "split O loads", NULL });
}
