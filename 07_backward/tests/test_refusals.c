/*
 * What the program refuses: with status 2 and one line that names the option or file, and nothing written.
 */
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/07_backward "

static void refuses(const char *arguments, const char *part)
{
    command_refused("07_backward", arguments, part);
}

TEST(refusals, of_steps_that_cannot_do_what_is_asked)
{
    refuses("--step fa2 --dropout 0.1 --output @/o.npy",
            "--step: expected a step that supports --dropout, and fa2 does not");
    refuses("--step standard --n-q 5 --dropout 0.1", "a step that supports --dropout");
    refuses("--step fa1 --n-q 5 --heads 2 --kv-heads 1", "a step that supports --kv-heads");
    refuses("--step split --n-q 5 --softcap 30 --dq @/o.npy",
            "--step: expected a step that supports --softcap, and split does not");
    refuses("--step cuda_complete --n-q 5 --softcap 30 --dq @/o.npy",
            "supports --softcap, and cuda_complete does not");
    refuses("--step nope", "--step: expected list, all or one of the steps");
    refuses("--step ''", "--step: expected a name");
    refuses("--step all --n-q 5 --output @/o.npy", "o.npy: expected one --step with it");
    refuses("--step all --n-q 5 --lse @/o.npy", "o.npy: expected one --step with it");
    refuses("--step all --n-q 5 --dq @/o.npy", "o.npy: expected one --step with it");
    refuses("--step all --n-q 5 --dk @/o.npy", "o.npy: expected one --step with it");
    refuses("--step all --n-q 5 --dv @/o.npy", "o.npy: expected one --step with it");
}

TEST(refusals, of_scores_whose_weights_float32_cannot_tell)
{
    refuses("--scale 1e9 --dq @/o.npy",
            "--scale: expected scores scale q.k of at most 1e+08, found");
    refuses("--scale -1e9 --softcap 1e9", "--scale: expected scores");
    const struct command c = command_run(PROGRAM "--n-q 9 --scale 1e9 --softcap 3 --quiet");
    cr_assert(c.status == 0, "capped scores: status %d: %s%s", c.status, c.out, c.err);
}

TEST(refusals, of_what_cannot_be_traced)
{
    refuses("--trace", "--trace: expected at most 64 pairs");
    refuses("--n-q 5 --n-k 9 --d 2 --trace", "--trace: expected at most 64 pairs, 8 keys");
    refuses("--n-q 5 --d 9 --trace=csv", "d at most 8");
    refuses("--n-q 5 --d 2 --softcap 5 --trace", "--trace: cannot be combined with --softcap");
    const struct command c = command_run(PROGRAM "--trace");
    cr_assert(!*c.out, "printed before it refused: %s", c.out);
}

TEST(refusals, of_training_with_another_problem)
{
    const char *const others[] = { "--batch 1",
                                   "--heads 2",
                                   "--kv-heads 1",
                                   "--n-q 5",
                                   "--n-k 5",
                                   "--d 32",
                                   "--seed 1",
                                   "--scale 0.5",
                                   "--causal",
                                   "--window 3,-1",
                                   "--window -1,3",
                                   "--key-mask @/m.npy",
                                   "--dropout 0",
                                   "--block-mask band:3",
                                   "--br 8",
                                   "--bc 8",
                                   "--sram 100",
                                   "--softcap 3",
                                   "--step fa1",
                                   "--verify=all",
                                   "--bench",
                                   "--trace",
                                   "--traffic",
                                   "--output @/o.npy",
                                   "--lse @/l.npy",
                                   "--dq @/dq.npy",
                                   "--dk @/dk.npy",
                                   "--dv @/dv.npy",
                                   "--q @/q.npy --k @/q.npy --v @/q.npy",
                                   "--timeline @/t",
                                   "--exclude nothing" };
    for (unsigned k = 0; k < sizeof others / sizeof others[0]; k++) {
        char arguments[100], name[20], part[100];
        snprintf(arguments, sizeof arguments, "--train %s --csv @/t.csv", others[k]);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(others[k], " ="), others[k]);
        snprintf(part, sizeof part,
                 "--train: cannot be combined with %s: --train sets its own problem\n", name);
        refuses(arguments, part);
    }
}

TEST(refusals, of_a_gradient_that_does_not_fit)
{
    command_zeros("q.npy", NPY_F4, 3, (size_t[]){ 2, 5, 3 });
    command_zeros("k.npy", NPY_F4, 3, (size_t[]){ 2, 6, 3 });
    command_zeros("flat.npy", NPY_F4, 2, (size_t[]){ 10, 3 });
    command_zeros("deep.npy", NPY_F4, 4, (size_t[]){ 1, 2, 5, 3 });
    command_zeros("mask.npy", NPY_B1, 3, (size_t[]){ 2, 5, 3 });
    command_file("text.npy", "hello", 5);
    const struct {
        const char *name, *part;
    } bad[] = {
        { "k.npy", "q.npy, (2, 5, 3), found (2, 6, 3)" },
        { "flat.npy", "q.npy, (2, 5, 3), found (10, 3)" },
        { "deep.npy", "q.npy, (2, 5, 3), found (1, 2, 5, 3)" },
        { "mask.npy", "mask.npy: expected float16, float32 or float64 numbers, found a mask" },
        { "text.npy", "text.npy: " },
        { "none.npy", "none.npy: " },
    };
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "--q @/q.npy --k @/k.npy --v @/k.npy --do @/%s --dq @/dq.npy", bad[k].name);
        refuses(arguments, bad[k].part);
    }
    refuses("--do @/q.npy --dq @/dq.npy", "--do: expected --q, --k and --v too");
    refuses("--n-q 5 --do @/q.npy", "--do: expected --q, --k and --v too");
}

TEST(refusals, of_outputs_that_cannot_be_written)
{
    refuses("--n-q 8 --dv @/no/such/s.npy", "s.npy: expected");
    refuses("--train --csv @/no/such/t.csv", "t.csv: expected");
    if (command_run("test -c /dev/full").status != 0)
        return;  // the device of Linux that is always full
    refuses("--n-q 8 --dq @/q2.npy --dk @/k2.npy --dv @/v2.npy >/dev/full", "standard output: ");
    refuses("--train --csv @/t.csv >/dev/full", "standard output: ");
    refuses("--n-q 2 --d 2 --trace=csv --dq @/q2.npy >/dev/full", "standard output: ");
}

TEST(refusals, of_every_output_that_a_mode_does_not_make)
{
    const char *const modes[] = {
        "--quiet --n-q 5 --d 4",
        "--n-q 5 --d 4 --step all",
        "--n-q 5 --d 4 --step all --quiet",
        "--step list",
        "--step list --quiet",
        "--n-q 5 --d 4 --step standard",
        "--n-q 5 --d 2 --trace=csv",
        "--n-q 5 --d 4 --traffic",
        "--train --quiet",
        "--device cpu --n-q 5 --d 4",
        "--device cpu --n-q 5 --d 64 --dtype bf16",
        "--device cpu --n-q 5 --d 64 --dtype f16 --step all",
        "--device cpu --step cuda_standard --n-q 5 --d 4",
        "--device cpu --bench --n-q 5 --d 4",
        NULL,
    };
    const char *const outputs[] = { "--output", "--lse", "--csv", "--timeline",
                                    "--dq",     "--dk",  "--dv",  NULL };
    command_outputs("07_backward", modes, outputs);
}
