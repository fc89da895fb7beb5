#include "common/cpu/memory.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/04_flash_no_tiling "

static void refuses(const char *arguments, const char *part)
{
    command_refused("04_flash_no_tiling", arguments, part);
}

TEST(program, fits_on_a_screen_that_ends_with_a_verdict)
{
    const char *const parts[] = { "Six words",
                                  "purred",
                                  "3.0921  1.9494",
                                  "One pass",
                                  "[3.0921 1.9494]",
                                  "Input",
                                  "pairs d",
                                  "Compared with",
                                  "its lse",
                                  "standard attention",
                                  "Next",
                                  "05_flash_tiled_cpu",
                                  NULL };
    const struct command c = command_verified("04_flash_no_tiling", "", parts);
    cr_assert(lines_of(c.out) <= 50, "%d lines", lines_of(c.out));
}

TEST(program, tells_each_part_of_its_story)
{
    const struct {
        const char *name, *parts[5];
    } story[] = {
        { "words", { "Six words", "purred", "One query", "3.0921  1.9494" } },
        { "one_pass", { "One pass", "[3.0921 1.9494]" } },
        { "standard", { "Compared", "64.39" } },
    };
    for (size_t k = 0; k < sizeof story / sizeof story[0]; k++)
        command_story("04_flash_no_tiling", story[k].name, story[k].parts);
}

TEST(program, does_every_option_together)
{
    unsigned char mask[2 * 113];
    for (size_t k = 0; k < sizeof mask; k++)
        mask[k] = k % 7 != 0 && k < 150;
    command_array("m.npy", NPY_B1, 2, (size_t[]){ 2, 113 }, mask);
    const char *const sets[] = {
        "--causal --key-mask @/m.npy",
        "--causal=top-left --window 20,3 --scale -0.5",
        "--window 0,0 --causal=bottom-right --key-mask @/m.npy --scale 0",
        "--window -1,2 --quiet",
    };
    for (unsigned k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        char words[400];
        snprintf(words, sizeof words,
                 PROGRAM "--batch 2 --heads 4 --kv-heads 2 --n-q 203 --n-k 113 --d 40 %s", sets[k]);
        const struct command c = command_run(words);
        cr_assert(c.status == 0 && !strstr(c.out, "WRONG"), "%s: status %d: %s%s", sets[k],
                  c.status, c.out, c.err);
    }
}

TEST(program, writes_o_and_lse_in_their_shapes)
{
    command_zeros("q.npy", NPY_F4, 3, (size_t[]){ 4, 5, 3 });
    command_zeros("k.npy", NPY_F2, 3, (size_t[]){ 2, 6, 3 });
    command_zeros("v.npy", NPY_F8, 3, (size_t[]){ 2, 6, 3 });
    const struct command c =
        command_run(PROGRAM "--q @/q.npy --k @/k.npy --v @/v.npy --output @/o.npy --lse @/lse.npy");
    char path[300];
    struct npy O, lse;
    struct file_error error;
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    snprintf(path, sizeof path, "%s/o.npy", command_folder());
    cr_assert(npy_read(path, &O, &error), "%s", error.text);
    snprintf(path, sizeof path, "%s/lse.npy", command_folder());
    cr_assert(npy_read(path, &lse, &error), "%s", error.text);
    cr_assert(O.dims == 3 && O.shape[0] == 4 && O.shape[1] == 5 && O.shape[2] == 3, "O is %d-d",
              O.dims);
    cr_assert(lse.dims == 3 && lse.shape[0] == 1 && lse.shape[1] == 4 && lse.shape[2] == 5,
              "lse is %d-d", lse.dims);
    npy_free(&O);
    npy_free(&lse);
}

TEST(program, traces_a_small_problem)
{
    const struct command c = command_run(PROGRAM "--n-q 2 --n-k 3 --d 2 --causal --trace");
    cr_assert(c.status == 0 && strstr(c.out, "Trace") && strstr(c.out, "i 1"), "it printed: %s",
              c.out);
    refuses("--trace", "--trace: expected at most 64 query-key pairs");
}

TEST(program, refuses_shapes_that_do_not_fit_together)
{
    command_zeros("q.npy", NPY_F4, 3, (size_t[]){ 4, 5, 3 });
    command_zeros("k.npy", NPY_F4, 3, (size_t[]){ 2, 6, 3 });
    command_zeros("v.npy", NPY_F4, 3, (size_t[]){ 2, 6, 3 });
    command_zeros("heads.npy", NPY_F4, 3, (size_t[]){ 3, 6, 3 });
    command_zeros("d.npy", NPY_F4, 3, (size_t[]){ 2, 6, 4 });
    command_zeros("n.npy", NPY_F4, 3, (size_t[]){ 2, 7, 3 });
    command_zeros("flat.npy", NPY_F4, 2, (size_t[]){ 6, 3 });
    command_zeros("line.npy", NPY_F4, 1, (size_t[]){ 6 });
    command_zeros("mask.npy", NPY_B1, 3, (size_t[]){ 2, 6, 3 });
    command_zeros("wide.npy", NPY_F4, 2, (size_t[]){ 2, 257 });
    const struct {
        const char *arguments, *part;
    } bad[] = {
        { "--q @/q.npy --k @/heads.npy --v @/heads.npy",
          "heads.npy: expected a number of heads that divides" },
        { "--q @/q.npy --k @/d.npy --v @/v.npy", "d.npy: expected the row length d" },
        { "--q @/q.npy --k @/k.npy --v @/n.npy", "n.npy: expected the number of keys" },
        { "--q @/q.npy --k @/k.npy --v @/d.npy", "d.npy: expected the row length d" },
        { "--q @/q.npy --k @/k.npy --v @/heads.npy", "heads.npy: expected the number of heads" },
        { "--q @/q.npy --k @/flat.npy --v @/v.npy", "flat.npy: expected as many dimensions" },
        { "--q @/line.npy --k @/k.npy --v @/v.npy", "line.npy: expected shape (N, d)" },
        { "--q @/mask.npy --k @/k.npy --v @/v.npy",
          "mask.npy: expected float16, float32 or float64" },
        { "--q @/wide.npy --k @/wide.npy --v @/wide.npy",
          "wide.npy: expected rows of at most 256" },
        { "--q @/q.npy --k @/k.npy", "--v: expected all of --q, --k and --v" },
        { "--q @/q.npy --k @/k.npy --v @/v.npy --d 3",
          "--q: does not go with options of a generated input" },
        { "--heads 4 --kv-heads 3", "--kv-heads: expected a number that divides" },
        { "--d 257", "--d: expected a whole number from 1 to 256" },
    };
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++)
        refuses(bad[k].arguments, bad[k].part);
}

TEST(program, refuses_a_malformed_file_in_every_option_that_takes_one)
{
    command_zeros("good.npy", NPY_F4, 2, (size_t[]){ 6, 3 });
    command_file("text.npy", "hello", 5);
    command_file("empty.npy", "", 0);
    command_run(
        "head -c 150 @/good.npy >@/cut.npy; cat @/good.npy @/good.npy >@/long.npy; mkdir @/folder");
    const char *const bad[] = {
        "text.npy", "empty.npy", "cut.npy", "long.npy", "folder", "none.npy"
    };
    const char *const uses[] = {
        "--q @/%s --k @/good.npy --v @/good.npy --output @/o.npy",
        "--q @/good.npy --k @/%s --v @/good.npy --output @/o.npy",
        "--q @/good.npy --k @/good.npy --v @/%s --output @/o.npy",
        "--n-q 6 --key-mask @/%s --output @/o.npy",
    };
    for (unsigned file = 0; file < sizeof bad / sizeof bad[0]; file++)
        for (unsigned use = 0; use < sizeof uses / sizeof uses[0]; use++) {
            char arguments[200], part[40];
            const char *const gap = strchr(uses[use], '%');
            snprintf(arguments, sizeof arguments, "%.*s%s%s", (int)(gap - uses[use]), uses[use],
                     bad[file], gap + 2);
            snprintf(part, sizeof part, "%s: ", bad[file]);
            refuses(arguments, part);
        }
}

TEST(program, refuses_bad_masks)
{
    command_zeros("floats.npy", NPY_F4, 2, (size_t[]){ 1, 128 });
    command_zeros("short.npy", NPY_B1, 2, (size_t[]){ 1, 127 });
    command_zeros("line.npy", NPY_B1, 1, (size_t[]){ 128 });
    command_zeros("batch.npy", NPY_B1, 2, (size_t[]){ 2, 128 });
    refuses("--n-q 128 --key-mask @/floats.npy", "floats.npy: expected a mask of bool or uint8");
    refuses("--n-q 128 --key-mask @/short.npy",
            "short.npy: expected shape (B, Nk) = (1, 128), found (1, 127)");
    refuses("--n-q 128 --key-mask @/line.npy", "line.npy: expected shape (B, Nk)");
    refuses("--n-q 128 --key-mask @/batch.npy", "batch.npy: expected shape (B, Nk)");
    refuses("--n-q 128 --key-mask @/none.npy", "none.npy: ");
}

TEST(program, refuses_bad_numbers)
{
    const char *const scales[] = {
        "nan", "inf", "-inf", "1e99", "1e-60", "abc", "''", "1x", "' 1'"
    };
    for (unsigned k = 0; k < sizeof scales / sizeof scales[0]; k++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "--scale %s --output @/o.npy", scales[k]);
        refuses(arguments, "--scale: expected a finite number");
    }
    refuses("--causal=sideways", "--causal: expected bottom-right or top-left");
    refuses("--window 3", "--window: expected LEFT,RIGHT");
    refuses("--window 3,-2", "--window: expected a whole number from 0");
    refuses("--window 3,", "--window: expected a whole number");
    refuses("--window 99999999999,1", "--window: expected a whole number");
    refuses("--verify=some", "--verify: expected all");
    refuses("--n-q 0", "--n-q: expected a whole number from 1");
    refuses("--dropout 0.1", "--dropout: expected an option of this chapter");
    refuses("--rows 3", "--rows: expected an option of this chapter");
}

TEST(program, refuses_outputs_that_cannot_be_written)
{
    refuses("--lse @/no/such/lse.npy", "lse.npy: expected");
    if (command_run("test -c /dev/full").status == 0)
        refuses("--output /dev/full", "/dev/full: ");
}

TEST(program, says_so_when_there_is_not_enough_memory)
{
    if (command_is_sanitized())
        return;
    refuses("--n-q 1000000000 --d 256 --heads 1000", "out of memory");
    refuses("--n-q 1000000000 --d 256 --heads 1000000000 --batch 1000000000", "out of memory");
}
