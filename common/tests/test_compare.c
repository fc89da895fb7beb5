/*
 * compare, the program of `make compare`, on textbook outputs, some of them spoilt.
 */
#include "common/check/plain.h"
#include "common/cpu/memory.h"
#include "common/problem/attention_input.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES "--q @/q.npy --k @/k.npy --v @/v.npy "

enum { B = 2, H = 4, HKV = 2, NQ = 5, NK = 6, D = 3, ROWS = B * H * NQ };
static const size_t shape_of_O[4] = { B, H, NQ, D };

/* Writes q.npy, k.npy and v.npy; O becomes the textbook's output with these options. */
static void make_problem(const struct attention *options, float *O)
{
    struct attention_input input = attention_input_random(attention_of(B, H, HKV, NQ, NK, D), 1);
    struct attention p = input.p;
    float lse[ROWS];
    const size_t shape[4] = { B, HKV, NK, D };
    if (options)
        p = *options;
    command_array("q.npy", NPY_F4, 4, shape_of_O, input.Q);
    command_array("k.npy", NPY_F4, 4, shape, input.K);
    command_array("v.npy", NPY_F4, 4, shape, input.V);
    plain_forward(&p, input.Q, input.K, input.V, O, lse);
    attention_input_free(&input);
}

static struct command run(const char *arguments)
{
    return program_run("compare --attention", arguments);
}

static void says(struct command c, int status, const char *const parts[])
{
    cr_assert(c.status == status, "status %d, expected %d: %s%s", c.status, status, c.out, c.err);
    const char *const missing = missing_part(c.out, parts);
    cr_assert(!missing, "expected \"%s\" in its place in: %s", missing, c.out);
}
#define SAYS(command, status, ...) says(command, status, (const char *const[]){ __VA_ARGS__, NULL })

static void refuses(const char *arguments, const char *part)
{
    const struct command c = run(arguments);
    cr_assert(c.status == 2, "%s: status %d: %s%s", arguments, c.status, c.out, c.err);
    cr_assert(is_one_line_with(c.err, part), "%s: expected one line with \"%s\", it said: %s",
              arguments, part, c.err);
}

TEST(compare, finds_right_outputs_right)
{
    float O[ROWS * D];
    double wide[ROWS * D];
    make_problem(NULL, O);
    for (size_t k = 0; k < ROWS * D; k++)
        wide[k] = (double)O[k];
    command_array("one.npy", NPY_F4, 4, shape_of_O, O);
    command_array("two.npy", NPY_F8, 4, shape_of_O, wide);
    const struct command c = run(FILES "-- @/one.npy @/two.npy");
    SAYS(c, 0, "q.npy", "B 2, H 4 (2 for K and V), Nq 5, Nk 6, d 3, scale 0.5774\n", "b, h, i, c",
         "one.npy", " - ", "ok\n", "two.npy", "0.00e+00", "0, 0, 0, 0", "ok\n");
    cr_assert(!strstr(c.out, "WRONG") && !strstr(c.out, "checked at"), "it printed: %s", c.out);
}

TEST(compare, finds_the_one_wrong_element_and_its_place)
{
    float O[ROWS * D];
    make_problem(NULL, O);
    command_array("right.npy", NPY_F4, 4, shape_of_O, O);
    const size_t at = ((1 * H + 2) * NQ + 3) * D + 1;
    char text[100];
    snprintf(text, sizeof text, "at 1, 2, 3, 1: got %.3g", (double)(O[at] + 0.5f));
    O[at] += 0.5f;
    command_array("wrong.npy", NPY_F4, 4, shape_of_O, O);
    SAYS(run(FILES "-- @/right.npy @/wrong.npy @/right.npy"), 1, "right.npy", "ok\n", "wrong.npy",
         "5.00e-01", "5.00e-01", "1, 2, 3, 1", "WRONG\n", text, ", expected ",
         "times what rounding explains\n", "right.npy", "5.00e-01", "1, 2, 3, 1", "ok\n");
    SAYS(run(FILES "-- @/wrong.npy"), 1, "5.00e-01", " - ", "1, 2, 3, 1", "WRONG\n");
}

TEST(compare, judges_each_head_by_itself)
{
    float O[ROWS * D];
    make_problem(NULL, O);
    struct attention_input input = attention_input_random(attention_of(B, H, HKV, NQ, NK, D), 1);
    const size_t shape[4] = { B, HKV, NK, D };
    float lse[ROWS];
    for (size_t k = 0; k < NK * D; k++)
        input.V[k] *= 1e7f;
    command_array("v.npy", NPY_F4, 4, shape, input.V);
    plain_forward(&input.p, input.Q, input.K, input.V, O, lse);
    attention_input_free(&input);
    O[(3 * NQ + 4) * D + 2] += 0.001f;
    command_array("o.npy", NPY_F4, 4, shape_of_O, O);
    SAYS(run(FILES "-- @/o.npy"), 1, "1.00e-03", "0, 3, 4, 2", "WRONG\n", "at 0, 3, 4, 2: got ");
}

TEST(compare, finds_what_is_no_number)
{
    const float bad[] = { NAN, -NAN, INFINITY };
    const char *const text[] = { "got NaN", "got NaN", "got inf" };
    float O[ROWS * D];
    make_problem(NULL, O);
    command_array("right.npy", NPY_F4, 4, shape_of_O, O);
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        O[D * NQ + D] = bad[k];
        command_array("bad.npy", NPY_F4, 4, shape_of_O, O);
        SAYS(run(FILES "-- @/right.npy @/bad.npy @/right.npy"), 1, "bad.npy", "NaN or inf",
             "NaN or inf", "0, 1, 1, 0", "WRONG\n", "at 0, 1, 1, 0: ", text[k], "right.npy",
             "NaN or inf", "ok\n");
    }
    O[ROWS * D - 1] = NAN;
    command_array("worse.npy", NPY_F4, 4, shape_of_O, O);
    SAYS(run(FILES "-- @/bad.npy @/worse.npy"), 1, "bad.npy", "0, 1, 1, 0", "WRONG\n", "worse.npy",
         "0, 1, 1, 0", "WRONG\n");
}

TEST(compare, solves_the_problem_that_the_options_ask_for)
{
    unsigned char mask[B * NK] = { 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1 };
    struct attention p = attention_of(B, H, HKV, NQ, NK, D);
    float O[ROWS * D];
    p.causal = true;
    p.window_left = 2;
    p.scale = -0.5f;
    p.key_mask = mask;
    command_array("m.npy", NPY_B1, 2, (size_t[]){ B, NK }, mask);
    make_problem(&p, O);
    command_array("o.npy", NPY_F4, 4, shape_of_O, O);
    SAYS(run(FILES "--causal --window 2,-1 --scale -0.5 --key-mask @/m.npy -- @/o.npy"), 0, "ok");
    SAYS(run(FILES "--window 2,-1 --scale -0.5 --key-mask @/m.npy -- @/o.npy"), 1, "WRONG");
    SAYS(run(FILES "--causal --window 2,-1 --scale -0.5 -- @/o.npy"), 1, "WRONG");
    SAYS(run("-- common/data/o.npy"), 0, "common/data/{q,k,v,key_mask}.npy\n", "B 2, H 4", "ok");
}

TEST(compare, lists_a_stage_that_cannot_do_what_is_asked)
{
    float O[ROWS * D];
    make_problem(NULL, O);
    command_array("o.npy", NPY_F4, 4, shape_of_O, O);
    O[4] += 0.25f;
    command_array("wrong.npy", NPY_F4, 4, shape_of_O, O);
    const struct command c = run(FILES "-- --cannot a.npy 'expected no mask' @/wrong.npy "
                                       "--cannot b.npy 'expected something so long that it does "
                                       "not fit beside the name of the stage' @/o.npy");
    SAYS(c, 1, "\na.npy  ", " expected no mask\n", "wrong.npy", " - ", "WRONG\n",
         "\nb.npy\n    expected something so", "o.npy", "2.50e-01", "ok\n");
    refuses(FILES "-- --cannot a.npy 'expected no mask'", "no stage can do what is asked");
    refuses(FILES "-- @/o.npy --cannot a.npy", "--cannot: expected an output and a reason");
}

TEST(compare, reads_the_input_and_no_more_without_outputs)
{
    float O[ROWS * D];
    make_problem(NULL, O);
    const struct command c = run(FILES "--");
    cr_assert(c.status == 0 && !*c.out && !*c.err, "status %d: %s%s", c.status, c.out, c.err);
    refuses("--q @/q.npy --k @/none.npy --v @/v.npy --", "none.npy: ");
}

TEST(compare, shows_no_row_wider_than_a_hundred)
{
    float O[ROWS * D];
    make_problem(NULL, O);
    O[ROWS * D - 1] = -1e30f;
    command_array("a_stage_with_a_name_that_is_far_too_long_for_a_column.npy", NPY_F4, 4,
                  shape_of_O, O);
    const struct command c =
        run(FILES "-- @/a_stage_with_a_name_that_is_far_too_long_for_a_column.npy "
                  "--cannot a.npy \"$(printf '%056d' 0)\" --cannot a.npy \"$(printf '%057d' 0)\"");
    SAYS(c, 1, "...that_is_far_too_long_for_a_column.npy  ", "WRONG\n", "at 1, 3, 4, 2");
    const char *line = strstr(c.out, "\n\n");
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
        cr_assert(end - line <= 100, "wider than 100: %.*s", (int)(end - line), line);
}

/* All queries are 0, so every row of O is the mean of V. */
TEST(compare, checks_some_rows_of_a_large_problem)
{
    enum { N = 44800, FAULTS_FROM = 20000 };
    const size_t shape[2] = { N, 1 };
    float *x = calloc(N, sizeof *x);
    cr_assert(x, "out of memory");
    command_array("q.npy", NPY_F4, 2, shape, x);
    for (size_t k = 0; k < N; k++)
        x[k] = (float)(k % 2);
    command_array("k.npy", NPY_F4, 2, shape, x);
    for (size_t k = 0; k < N; k++)
        x[k] = 0.5f;
    command_array("right.npy", NPY_F4, 2, shape, x);
    command_array("v.npy", NPY_F4, 2, shape, x);
    for (size_t k = FAULTS_FROM; k < N; k++)
        x[k] = 0.75f;
    command_array("wrong.npy", NPY_F4, 2, shape, x);
    free(x);
    const struct command c = run(FILES "-- @/right.npy @/wrong.npy");
    SAYS(c, 1, "checked at 64 of 44800 rows; --verify=all", "right.npy", "ok\n", "wrong.npy",
         "2.50e-01", "2.50e-01", "WRONG\n", "got 0.75, expected 0.5;");
    const char *const before = "  at 0, 0, ", *const at = strstr(c.out, before);
    const unsigned long row = at ? strtoul(at + strlen(before), NULL, 10) : 0;
    cr_assert(row >= FAULTS_FROM && row < FAULTS_FROM + N / 8,
              "expected the first of the checked rows that are wrong: %s", c.out);
}

TEST(compare, refuses_files_and_options_it_cannot_use)
{
    float O[ROWS * D];
    make_problem(NULL, O);
    command_array("o.npy", NPY_F4, 4, shape_of_O, O);
    command_array("turned.npy", NPY_F4, 4, (size_t[]){ H, B, NQ, D }, O);
    command_array("across.npy", NPY_F4, 4, (size_t[]){ B, H, D, NQ }, O);
    command_array("flat.npy", NPY_F4, 3, (size_t[]){ B * H, NQ, D }, O);
    command_array("more.npy", NPY_F4, 5, (size_t[]){ B, H, NQ, D, 1 }, O);
    command_array("mask.npy", NPY_U1, 4, shape_of_O, O);
    command_file("text.npy", "hello", 5);
    const struct {
        const char *arguments, *part;
    } bad[] = {
        { FILES "-- @/turned.npy", "turned.npy: expected the shape of the input, (2, 4, 5, 3), "
                                   "found (4, 2, 5, 3)" },
        { FILES "-- @/across.npy", "across.npy: expected the shape of the input, " },
        { FILES "-- @/flat.npy", "flat.npy: expected the shape of the input, " },
        { FILES "-- @/more.npy", "more.npy: expected the shape of the input, " },
        { FILES "-- @/mask.npy", "mask.npy: expected float16, float32 or float64" },
        { FILES "-- @/o.npy @/text.npy", "text.npy: expected" },
        { FILES "-- @/none.npy", "none.npy: " },
        { "--q @/q.npy --k @/k.npy -- @/o.npy", "--v: expected all of" },
        { "--q @/text.npy --k @/k.npy --v @/v.npy -- @/o.npy", "text.npy: expected" },
        { FILES "--output @/x.npy -- @/o.npy", "--output: expected only options that say" },
        { FILES "--lse @/x.npy -- @/o.npy", "--lse: expected only options" },
        { FILES "--csv @/x.csv -- @/o.npy", "--csv: expected only options" },
        { FILES "--trace -- @/o.npy", "--trace: expected only options" },
        { FILES "--traffic -- @/o.npy", "--traffic: expected only options" },
        { FILES "--bench -- @/o.npy", "--bench: expected only options" },
        { FILES "--quiet -- @/o.npy", "--quiet: expected only options" },
        { FILES "--rows 3 -- @/o.npy", "--rows: expected an option of this chapter" },
        { FILES "@/o.npy", "--attention: expected -- between" },
        { FILES "@/o.npy -- @/o.npy", "expected an option, which begins with --" },
    };
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++)
        refuses(bad[k].arguments, bad[k].part);
    cr_assert(command_run("${BUILD:-build}/compare").status == 2, "it needs arguments");
    cr_assert(command_run("${BUILD:-build}/compare --other x y").status == 2, "it knows two forms");
}
