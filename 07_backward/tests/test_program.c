/*
 * The program as a reader runs it: its story, every step and option. What it refuses is in test_refusals.c, what it
 * writes for other programs in test_outputs.c.
 */
#include "07_backward/program.h"
#include "07_backward/steps/forward.h"
#include "07_backward/steps/steps.h"
#include "common/problem/random.h"
#include "common/tests/command.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHAPE "--batch 2 --heads 4 --kv-heads 2 --n-q 203 --n-k 113 --d 40 "
#define ISSUE SHAPE "--causal --window 50,0 --dropout 0.1 --br 16 --bc 24 "

static struct command verifies(const char *arguments)
{
    return command_verified("07_backward", arguments, NULL);
}

static void verifies_and_tells(const char *arguments, const char *const parts[])
{
    command_verified("07_backward", arguments, parts);
}

TEST(program, fits_on_a_screen_that_ends_with_a_verdict)
{
    const char *const parts[] = { "07  Backward",
                                  "By hand",
                                  "dS  [ 0.197 -0.197",
                                  "dQ  [ 0.197 -0.197",
                                  "Steps",
                                  " standard",
                                  " split",
                                  "complete",
                                  "Input",
                                  "common/data/",
                                  "dO: normal numbers, seed 1",
                                  "Tiles",
                                  "Counted",
                                  "dQ stores",
                                  "Compared with",
                                  "dQ, reference",
                                  "dV, reference",
                                  "dQ, fa1",
                                  "Next",
                                  "--train",
                                  NULL };
    const struct command c = command_verified("07_backward", "", parts);
    cr_assert(lines_of(c.out) <= 60, "%d lines", lines_of(c.out));
}

TEST(program, tells_each_part_of_its_story)
{
    const struct {
        const char *name, *parts[3];
    } story[] = {
        { "by_hand", { "By hand", "dS  [ 0.197 -0.197" } },
        { "softmax", { "Softmax", "0.0819  -0.0599  -0.0220" } },
        { "scale", { "Scale", "dK" } },
        { "differences", { "Differences", "loss in double" } },
        { "accesses", { "Accesses", "standard, tiled   recompute" } },
    };
    for (size_t k = 0; k < sizeof story / sizeof story[0]; k++)
        command_story("07_backward", story[k].name, story[k].parts);
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

TEST(program, does_the_problem_of_the_forward_pass)
{
    const char *const one[] = { "Nq 203, Nk 113, d 40",
                                "complete, with Br = 16 queries and Bc = 24 keys",
                                "Counted",
                                "Compared with",
                                "dQ, reference",
                                "dK, reference",
                                "dV, reference",
                                NULL };
    const char *const all[] = { " standard   does not support --dropout",
                                " recompute  does not support --dropout",
                                " fa1        does not support --kv-heads",
                                " fa2        does not support --dropout",
                                " split      does not support --dropout",
                                " softcap    does not support --dropout",
                                "  complete  ",
                                NULL };
    verifies_and_tells(ISSUE, one);
    verifies_and_tells(ISSUE "--step all", all);
}

TEST(program, runs_every_step_by_its_name)
{
    for (size_t k = 0; k < table.count; k++) {
        char arguments[100], with[40], reference[40];
        snprintf(arguments, sizeof arguments,
                 "--n-q 33 --n-k 40 --d 5 --heads 2 --causal --step %s", table.steps[k].name);
        snprintf(with, sizeof with, "%s, with Br = ", table.steps[k].name);
        const size_t before =
            k + 1 == table.count ? k - 2 : k - 1;  // not softcap, where no score is changed
        snprintf(reference, sizeof reference, k ? "dV, %s" : "%s",
                 k ? table.steps[before].name : "\n");
        verifies_and_tells(arguments, (const char *const[]){ with, "Counted", "Compared with",
                                                             "dV, reference", reference, NULL });
    }
    verifies_and_tells("--n-q 33 --n-k 40 --d 5 --step all",
                       (const char *const[]){ "Steps", "standard", "-\n", "recompute", "standard\n",
                                              "fa1", "recompute\n", "fa2", "fa1\n", "split",
                                              "fa2\n", "softcap", "split\n", "complete",
                                              "softcap\n", NULL });
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

TEST(program, lists_its_steps)
{
    verifies_and_tells("--step list", (const char *const[]){
                                          " 1  standard ", "\n 2  recompute ", "\n    complete ",
                                          "\n    cuda_standard ", "\n    cuda_complete ", NULL });
    const struct command wide = verifies("--step list --quiet");
    cr_assert(starts_with(wide.out, "standard\nrecompute\nfa1\n") &&
                  strstr(wide.out, "\ncuda_standard\n") && !strstr(wide.out, "mma"),
              "--quiet: it printed: %s", wide.out);
    const struct command narrow = verifies("--step list --quiet --dtype bf16");
    cr_assert(starts_with(narrow.out, "cuda_mma_split\ncuda_mma\n") &&
                  strstr(narrow.out, "\ncuda_complete\n"),
              "--quiet: it printed: %s", narrow.out);
}

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
        "--causal=bottom-right --block-mask band:0 --mask-block 1,1 --dropout 0.9 --threads 1",
    };
    for (unsigned k = 0; k < all_or_few(sizeof sets / sizeof sets[0], 2); k++) {
        char arguments[400];
        snprintf(arguments, sizeof arguments, SHAPE "%s --step all", sets[k]);
        verifies(arguments);
        snprintf(arguments, sizeof arguments, SHAPE "%s --quiet", sets[k]);
        cr_assert(is_one_line_with(verifies(arguments).out, "ok"), "%s: not one line", arguments);
    }
}

/* dQ is 0, and all that is seen of it hangs on the rounding of one D and one dP a head. */
TEST(program, is_not_alarmed_by_one_query_that_sees_one_key)
{
    const int seeds[] = { 27, 283, 313, 439 };
    for (unsigned k = 0; k < sizeof seeds / sizeof seeds[0]; k++) {
        char arguments[120];
        snprintf(arguments, sizeof arguments,
                 "--batch 3 --heads 5 --n-q 1 --n-k 2 --d 200 --causal=top-left --seed %d",
                 seeds[k]);
        verifies(arguments);
    }
}

/* How large the terms are that cancel out is not to be told from keys that no query attends to. */
TEST(program, is_not_alarmed_by_nan_in_most_of_the_keys)
{
    enum { N = 33, D = 33 };
    static float q[D], k[N * D], v[N * D], g[D];
    static const unsigned char first[N] = { 1 };
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_normals(q, D, seed, 0);
        random_normals(k, D, seed, 1);
        random_normals(v, D, seed, 2);
        random_normals(g, D, seed, 3);
        for (size_t n = D; n < N * D; n++)
            k[n] = v[n] = NAN;
        command_array("q.npy", NPY_F4, 2, (size_t[]){ 1, D }, q);
        command_array("k.npy", NPY_F4, 2, (size_t[]){ N, D }, k);
        command_array("v.npy", NPY_F4, 2, (size_t[]){ N, D }, v);
        command_array("g.npy", NPY_F4, 2, (size_t[]){ 1, D }, g);
        command_array("m.npy", NPY_B1, 2, (size_t[]){ 1, N }, first);
        verifies("--q @/q.npy --k @/k.npy --v @/v.npy --do @/g.npy --key-mask @/m.npy --quiet");
    }
}

TEST(program, learns_with_its_gradients_and_not_so_with_wrong_ones)
{
    verifies_and_tells("--train",
                       (const char *const[]){ "Descent", "standard", "complete", "scale forgotten",
                                              "\n", "complete is never more than",
                                              "with rate 1000: standard ends at 0.000",
                                              "the one without the scale at NaN", NULL });
    const struct command c = verifies("--train --quiet");
    cr_assert(is_one_line_with(c.out, "ok"), "--quiet: it printed: %s", c.out);
}

TEST(program, checks_some_rows_of_a_large_problem_and_all_if_asked)
{
    const char *const some[] = { "Counted", "not counted", "Compared with",
                                 "checked at 64 rows of dQ and 16 of dK and dV", NULL };
    verifies_and_tells("--n-q 6000 --n-k 900 --d 150 --heads 4 --kv-heads 2 --causal --dropout 0.1",
                       some);
}

TEST(program, tells_tiles_from_any_sizes)
{
    const struct {
        const char *arguments, *sizes, *tiles;
    } runs[] = {
        { "--br 1", "Br = 1 queries and Bc = 128 keys\n", "10 tiles full, 0 partial, 0 skipped" },
        { "--br 1 --bc 1", "Br = 1 queries and Bc = 1 keys\n", "70 tiles full" },
        { "--br 1000000000 --bc 1000000000", "and Bc = 1000000000 keys\n", " 1 tiles full" },
        { "--sram 24 --step fa1", "fa1, with Br = 2 queries and Bc = 2", "20 tiles full" },
        { "--sram 24 --step standard", "Br = 4 queries and Bc = 4 keys\n", " 6 tiles full" },
    };
    for (unsigned k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "--n-q 10 --n-k 7 --d 3 %s", runs[k].arguments);
        verifies_and_tells(arguments,
                           (const char *const[]){ runs[k].sizes, runs[k].tiles, "Counted", NULL });
    }
}
