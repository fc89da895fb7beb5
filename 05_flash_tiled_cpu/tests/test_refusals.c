/*
 * What the program refuses: with status 2 and one line that names the option or file, and nothing
 * written.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/05_flash_tiled_cpu "

static void refuses(const char *arguments, const char *part)
{
    command_refused("05_flash_tiled_cpu", arguments, part);
}

TEST(refusals, of_steps_that_cannot_do_what_is_asked)
{
    refuses("--step fa1 --causal --output @/o.npy",
            "--step: expected a step that supports --causal, and fa1 does not");
    refuses("--step standard --n-q 5 --window 1,1",
            "--step: expected a step that supports --window");
    refuses("--step fa2 --n-q 5 --block-mask band:1", "a step that supports --block-mask");
    refuses("--step block_matmul --n-q 5 --dropout 0.5", "a step that supports --dropout");
    refuses("--step masks --dropout 0.5", "and masks does not");
    refuses("--step split_kv --n-q 5 --softcap 30 --output @/o.npy",
            "--step: expected a step that supports --softcap, and split_kv does not");
    refuses("--step fa1", "--step: expected a step that supports --key-mask (the course's input "
                          "has one, and --n-q draws another input)");
    refuses("--step nope", "--step: expected list, all or one of the steps");
    refuses("--step ''", "--step: expected a name");
    refuses("--step FA1", "found 'FA1'");
    refuses("--step \"$(printf 'a\\nb')\"", "found 'a?b'");
}

TEST(refusals, of_scores_whose_weights_float32_cannot_tell)
{
    refuses("--scale 1e38 --softcap 3e38 --output @/o.npy",
            "--scale: expected scores scale q.k of at most 1e+08, found up to 1.3e+40");
    refuses("--n-q 5 --d 16 --scale -3e38", "--scale: expected scores");
    refuses("--n-q 5 --d 16 --scale 1e8", "--scale: expected scores");
    const struct command c = command_run(PROGRAM "--n-q 5 --d 16 --scale 1e6 --quiet");
    cr_assert(c.status == 0, "large scores: status %d: %s%s", c.status, c.out, c.err);
}

TEST(refusals, of_what_a_step_does_not_have)
{
    refuses("--step all --n-q 5 --output @/o.npy", "o.npy: expected one --step with it");
    refuses("--step all --n-q 5 --lse @/l.npy", "l.npy: expected one --step with it");
    refuses("--step all --n-q 5 --trace", "--trace: expected one --step with it");
    refuses("--step standard --n-q 5 --lse @/l.npy", "--lse: expected a --step from fa1 on");
    refuses("--step block_matmul --n-q 5 --lse @/l.npy", "--lse: expected a --step from fa1");
    refuses("--step standard --n-q 5 --d 2 --trace",
            "--trace: expected a --step from fa1 to softcap");
    refuses("--step block_matmul --n-q 5 --d 2 --trace=csv", "--trace: expected a --step from");
    refuses("--trace", "--trace: expected at most 64 pairs");
    refuses("--trace=csv", "--trace: expected at most 64 pairs");
    refuses("--n-q 5 --n-k 13 --d 2 --trace", "--trace: expected at most 64 pairs");
    refuses("--n-q 5 --d 9 --trace", "d at most 8");
    refuses("--trace=json", "--trace: expected csv");
    const char *const early[] = { "--trace", "--step fa1 --causal", "--trace=csv", "--br 0" };
    for (unsigned k = 0; k < sizeof early / sizeof early[0]; k++) {
        char words[200];
        snprintf(words, sizeof words, PROGRAM "%s", early[k]);
        const struct command c = command_run(words);
        cr_assert(!*c.out, "%s: printed before it refused: %s", early[k], c.out);
    }
}

TEST(refusals, of_bad_numbers_in_every_new_option)
{
    const char *const counts[] = { "--br", "--bc", "--sram", "--threads" };
    const char *const numbers[] = { "0",   "-1",          "1e3",  "3.5", "''",
                                    "abc", "99999999999", "' 4'", "nan" };
    char arguments[100], part[100];
    for (unsigned o = 0; o < sizeof counts / sizeof counts[0]; o++)
        for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            snprintf(arguments, sizeof arguments, "%s %s --output @/o.npy", counts[o], numbers[k]);
            snprintf(part, sizeof part, "%s: expected a whole number from 1 to", counts[o]);
            refuses(arguments, part);
        }
    const char *const fractions[] = {
        "1", "-0.1", "nan", "inf", "''", "0.5x", "' 0.5'",
    };
    for (unsigned k = 0; k < sizeof fractions / sizeof fractions[0]; k++) {
        snprintf(arguments, sizeof arguments, "--dropout %s --output @/o.npy", fractions[k]);
        refuses(arguments, "--dropout: expected a number from 0 to less than 1");
    }
    const struct {
        const char *arguments, *part;
    } bad[] = {
        { "--threads 1025", "--threads: expected a whole number from 1 to 1024" },
        { "--n-q 9 --step fa2 --threads 2", "--threads: expected 1, as fa2 runs on one thread" },
        { "--n-q 9 --step loops --br 7", "--br: loops takes its queries in groups" },
        { "--dropout 0.1 --dropout-seed -1", "--dropout-seed: expected a whole number from 0" },
        { "--dropout-seed 4", "--dropout-seed: expected --dropout too" },
        { "--block-mask band:1 --mask-block 0,4", "--mask-block: expected a whole number from 1" },
        { "--block-mask band:1 --mask-block 4", "--mask-block: expected R,C" },
        { "--block-mask band:1 --mask-block 4,4,4", "--mask-block: expected a whole number" },
        { "--mask-block 4,4", "--mask-block: expected --block-mask too" },
        { "--block-mask band:", "--block-mask: expected a whole number from 0" },
        { "--block-mask band:-1", "--block-mask: expected a whole number from 0" },
        { "--block-mask random:0.5", "--block-mask: expected DENSITY:SEED after" },
        { "--block-mask random:1.5:1", "--block-mask: expected a density from 0 to 1" },
        { "--block-mask random:0.5:x", "--block-mask: expected a whole number from 0" },
        { "--block-mask ''", "--block-mask: expected a file's name, band:W or random" },
        { "--sram 100 --br 4", "--sram: chooses the tiles itself, so it does not go with --br" },
        { "--sram 100 --bc 4", "--sram: chooses the tiles itself, so it does not go with --bc" },
        { "--rows 4", "--rows: expected an option of this chapter" },
        { "--dtype f16", "--dtype: expected an option of this chapter" },
    };
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++)
        refuses(bad[k].arguments, bad[k].part);
}

TEST(refusals, of_block_masks_that_cannot_be_read_or_do_not_fit)
{
    command_zeros("good.npy", NPY_B1, 2, (size_t[]){ 2, 3 });
    command_zeros("turned.npy", NPY_B1, 2, (size_t[]){ 3, 2 });
    command_zeros("line.npy", NPY_B1, 1, (size_t[]){ 6 });
    command_zeros("deep.npy", NPY_U1, 3, (size_t[]){ 1, 2, 3 });
    command_zeros("floats.npy", NPY_F4, 2, (size_t[]){ 2, 3 });
    command_file("text.npy", "hello", 5);
    command_file("empty.npy", "", 0);
    command_run("head -c 132 @/good.npy >@/cut.npy; cat @/good.npy @/good.npy >@/long.npy; "
                "mkdir @/folder");
    const struct {
        const char *name, *part;
    } bad[] = {
        { "turned.npy", "expected shape (ceil(Nq / 4), ceil(Nk / 5)) = (2, 3), found (3, 2)" },
        { "line.npy", "expected shape (ceil(Nq / 4), ceil(Nk / 5)) = (2, 3), found (6,)" },
        { "deep.npy", "= (2, 3), found (1, 2, 3)" },
        { "floats.npy", "floats.npy: expected a mask of bool or uint8, found numbers" },
        { "text.npy", "text.npy: " },
        { "empty.npy", "empty.npy: " },
        { "cut.npy", "cut.npy: " },
        { "long.npy", "long.npy: " },
        { "folder", "folder: " },
        { "none.npy", "none.npy: " },
    };
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "--n-q 8 --n-k 11 --d 2 --mask-block 4,5 --block-mask @/%s --output @/o.npy",
                 bad[k].name);
        refuses(arguments, bad[k].part);
    }
    refuses("--n-q 8 --n-k 11 --d 2 --block-mask @/good.npy",
            "expected shape (ceil(Nq / 64), ceil(Nk / 64)) = (1, 1), found (2, 3)");
    const struct command c = command_run(PROGRAM "--n-q 8 --n-k 11 --d 2 --mask-block 4,5 "
                                                 "--block-mask @/good.npy --quiet");
    cr_assert(c.status == 0, "the mask that the others are made from: %s", c.err);
}

TEST(refusals, of_outputs_that_cannot_be_written)
{
    refuses("--n-q 8 --csv @/no/such/s.csv", "s.csv: expected");
    if (command_run("test -c /dev/full").status != 0)
        return;  // the device of Linux that is always full
    const char *const spoken[] = {
        "--n-q 8 --output @/o.npy",
        "--n-q 8 --step all --csv @/s.csv",
        "--step list",
        "--n-q 8 --d 2 --trace=csv --output @/o.npy",
        "--n-q 8 --quiet",
        "--help",
    };
    for (unsigned k = 0; k < sizeof spoken / sizeof spoken[0]; k++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "%s >/dev/full", spoken[k]);
        refuses(arguments, "standard output: ");
    }
}

TEST(refusals, of_what_does_not_fit_in_memory)
{
    if (command_is_sanitized())
        return;
    refuses("--n-q 1000000 --d 1 --step standard",
            "out of memory: with S and P it needs 8000.0 GB, and this machine has ");
    refuses("--n-q 1000000000 --d 256 --heads 1000", "out of memory");
    refuses("--n-q 1000000000 --d 256 --heads 1000000000 --batch 1000000000", "out of memory");
    refuses("--n-q 1000000000 --n-k 1 --d 1 --block-mask band:1 --mask-block 1,1 --heads 1000",
            "out of memory");
}

TEST(refusals, of_every_output_that_a_mode_does_not_make)
{
    const char *const modes[] = {
        "",
        "--quiet",
        "--n-q 5 --d 4",
        "--n-q 5 --d 4 --step all",
        "--step list",
        "--step list --quiet",
        "--n-q 5 --d 4 --step standard",
        "--n-q 5 --d 4 --step fa1",
        "--n-q 5 --d 2 --trace",
        "--n-q 5 --d 2 --trace=csv",
        "--n-q 5 --d 4 --traffic",
        "--n-q 5 --d 4 --bench --step standard",
        "--n-q 5 --d 4 --verify=all",
        NULL,
    };
    const char *const outputs[] = { "--output", "--lse", "--csv", NULL };
    command_outputs("05_flash_tiled_cpu", modes, outputs);
}
