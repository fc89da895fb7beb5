/*
 * What the program refuses: status 2, one line that names the option or file, and no output.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>

#define NAME "06_flash_tiled_cuda"
static void refuses(const char *arguments, const char *part)
{
    command_refused(NAME, arguments, part);
}

TEST(refusals, of_kernels_that_cannot_do_what_is_asked)
{
    refuses("--step fa1 --n-q 5 --d 16 --window 1,1 --output @/o.npy",
            "--step: expected a kernel that supports --window, and fa1 does not");
    refuses("--step naive --n-q 5 --block-mask band:1", "a kernel that supports --block-mask");
    refuses("--n-q 5 --softcap 30 --output @/o.npy",
            "--softcap: expected an option of this chapter");
    refuses("--step fa2 --n-q 5 --dropout 0.5",
            "a kernel that supports --dropout, and fa2 does not");
    refuses("--step fa1", "--step: expected a kernel that supports --key-mask (the course's input "
                          "has one, and --n-q draws another input)");
    refuses("--step fa2 --n-q 5 --d 40",
            "supports d = 40 (d is 16, 32, 64, 96 or 128), and fa2 does");
    refuses("--n-q 5 --d 129", "supports d = 129 (d is at most 128), and complete does not");
    refuses("--n-q 1 --batch 70000 --d 1",
            "supports more than 65 535 heads, and complete does not");
    refuses("--step all --n-q 5 --d 129", "some kernel can do; none supports d = 129");
    refuses("--step mma --n-q 5", "supports --dtype f32, and mma does not");
    refuses("--step fa2 --n-q 5 --dtype f16", "supports --dtype f16, and fa2 does not");
    refuses("--step turing --n-q 5 --d 64 --dtype bf16", "turing does not; it takes f16");
    refuses("--step swizzle --n-q 5 --d 96 --dtype f16", "supports d = 96 (d is 64 or 128)");
    refuses("--n-q 5 --d 40 --dtype bf16",
            "supports d = 40 (d is 32, 64, 96, 128 or 256 with --dtype bf16)");
    refuses("--dtype", "--dtype: expected a value after it");
    refuses("--dtype fp16", "--dtype: expected f32, bf16 or f16, found 'fp16'");
    refuses("--step nope", "--step: expected list, all or one of the steps");
    refuses("--step 99", "found '99'");
    refuses("--step 0", "found '0'");
    refuses("--step ''", "--step: expected a name");
}

TEST(refusals, of_names_to_be_left_out_that_are_none)
{
    refuses("--step all --n-q 5 --exclude fa1,fa",
            "--exclude: expected names of kernels that --step list names, with commas between "
            "them, found 'fa1,fa'");
    refuses("--step all --n-q 5 --exclude ''", "--exclude: expected a name");
}

TEST(refusals, of_tiles_that_are_not_compiled)
{
    refuses("--step budget --n-q 5 --d 64 --dtype bf16 --br 100 --output @/o.npy",
            "--br: expected a tile that budget is compiled for with d = 64: "
            "128 x 64, 128 x 32, 64 x 64, 64 x 128");
    refuses("--step budget --n-q 5 --d 128 --dtype f16 --bc 16",
            "--bc: expected a tile that budget is compiled for with d = 128: "
            "128 x 32, 64 x 64, 128 x 64, 128 x 128");
    refuses("--n-q 5 --d 96 --dtype f16 --br 128 --bc 64",
            "--br: expected a tile that complete is compiled for with d = 96: 128 x 32");
    refuses("--n-q 5 --d 64 --br 64", "--br: expected a kernel that has several tiles: budget, or "
                                      "complete with --dtype bf16 or f16; complete has one");
    refuses("--step skip --n-q 5 --d 64 --dtype f16 --bc 64",
            "--bc: expected a kernel that has several tiles");
    refuses("--step all --n-q 5 --d 64 --dtype f16 --br 64",
            "--br: expected one --step with it, not all");
    refuses("--n-q 5 --d 64 --dtype f16 --br 0", "--br: expected a whole number from 1 to");
}

TEST(refusals, of_what_does_not_belong_here)
{
    refuses("--step all --n-q 5 --output @/o.npy", "o.npy: expected one --step with it");
    refuses("--step all --n-q 5 --lse @/l.npy", "l.npy: expected one --step with it");
    refuses("--step all --n-q 5 --profile", "--profile: expected one --step with it");
    refuses("--step all --n-q 5 --timeline @/t.csv", "t.csv: expected one --step with it");
    refuses("--step list --timeline @/t.csv", "t.csv: expected a run that makes this file");
    refuses("--n-q 2000 --timeline @/t.csv",
            "--timeline: expected a smaller problem, of at most 10 million");
    refuses("--n-q 5 --timeline @/no/t.csv", "/no/t.csv");
    refuses("--device-info --output @/o.npy", "o.npy: expected a run that makes this file");
    refuses("--step list --csv @/l.csv", "l.csv: expected a run that makes this file");
    refuses("--device-info --step fa2", "--step: expected a program that runs a step");
    refuses("--n-q 2000 --profile", "--profile: expected a smaller problem, of at most 10 million");
    refuses("--device", "--device: expected a value after it");
    refuses("--device tpu", "--device: expected cpu, gpu or auto, found 'tpu'");
    refuses("--device ''", "--device: expected cpu, gpu or auto, found ''");
    const char *const unknown[] = { "--sram", "--trace" };
    for (unsigned k = 0; k < sizeof unknown / sizeof unknown[0]; k++)
        refuses(unknown[k], "expected an option of this chapter; --help lists them");
}

TEST(refusals, come_before_anything_is_printed)
{
    const char *const early[] = { "--step fa1 --d 5 --n-q 5", "--device x", "--step x" };
    for (unsigned k = 0; k < sizeof early / sizeof early[0]; k++) {
        const struct command c = program_run("06_flash_tiled_cuda", early[k]);
        cr_assert(c.status == 2 && !*c.out, "%s: printed before it refused: %s", early[k], c.out);
    }
}

TEST(refusals, of_a_machine_that_lacks_files)
{
    if (!command_is_sanitized())
        script_refuses(
            "ulimit -n 4; ${BUILD:-build}/06_flash_tiled_cuda --device cpu --n-q 5 --profile",
            "expected a process that finds lines of source");
}

TEST(refusals, of_every_output_that_a_mode_does_not_make)
{
    const char *const modes[] = {
        "--device cpu --quiet --n-q 5 --d 4",
        "--device cpu --n-q 5 --d 4 --step all",
        "--device cpu --step list",
        "--device cpu --step list --quiet",
        "--device cpu --step list --device-info",
        "--device cpu --quiet --device-info",
        "--device cpu --n-q 5 --d 4 --step naive",
        "--device cpu --n-q 5 --d 4 --step fa1",
        "--device cpu --n-q 5 --d 64 --dtype bf16",
        "--device cpu --n-q 5 --d 64 --dtype f16 --step all",
        "--device cpu --n-q 5 --d 4 --profile",
        "--device cpu --n-q 5 --d 4 --profile --step all",
        "--device cpu --n-q 5 --d 4 --traffic",
        "--device cpu --n-q 5 --d 4 --bench --step fa1",
        NULL,
    };
    const char *const outputs[] = { "--output", "--lse", "--csv", "--timeline", NULL };
    command_outputs("06_flash_tiled_cuda", modes, outputs);
}
