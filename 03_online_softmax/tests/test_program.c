/*
 * The program as a reader runs it: what it prints, what it writes, and what it says to bad input.
 */
#include "command.h"
#include "npy.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define PROGRAM "${BUILD:-build}/03_online_softmax "

/* Bad arguments: status 2, one line that holds `part`, and nothing new in the folder. */
static void refuses(const char *arguments, const char *part)
{
    char words[1000];
    const int before = command_files();
    snprintf(words, sizeof words, "%s %s", PROGRAM, arguments);
    const struct command c = command_run(words);
    cr_assert(c.status == 2, "%s: status %d, expected 2; it said: %s", arguments, c.status, c.err);
    cr_assert(is_one_line_with(c.err, part), "%s: expected one line with \"%s\", it said: %s",
              arguments, part, c.err);
    cr_assert(command_files() == before, "%s: left a file behind", arguments);
}

static void write_scores(const char *name, const float *x, size_t rows, size_t cols)
{
    char path[300];
    struct file_error error;
    snprintf(path, sizeof path, "%s/%s", command_folder(), name);
    cr_assert(npy_write(path, NPY_F4, 2, (size_t[]){ rows, cols }, x, &error), "%s", error.text);
}

TEST(program, tells_its_story_and_verifies_it)
{
    const struct command c = command_run(PROGRAM);
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    const char *const parts[] = { "By hand",         "Merging", "share",  "164 rows",
                                  "53 792",          "26 896",  "80 688", "3 N",
                                  "8.7472",          "0.6652",  "2.0562", "Compared with",
                                  "double reference" };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        cr_assert(strstr(c.out, parts[k]), "expected \"%s\" in what it prints", parts[k]);
    cr_assert(!strstr(c.out, "WRONG") && !strchr(c.out, '\033'), "it printed: %s", c.out);
}

TEST(program, says_one_line_when_told_to_be_quiet)
{
    const struct command c = command_run(PROGRAM "--quiet");
    cr_assert(c.status == 0 && is_one_line_with(c.out, "ok"), "it printed: %s", c.out);
}

TEST(program, helps_with_the_options_it_takes)
{
    const struct command c = command_run(PROGRAM "--help");
    cr_assert(c.status == 0 && strstr(c.out, "--input X.npy") && strstr(c.out, "example:"),
              "it printed: %s", c.out);
    cr_assert(!strstr(c.out, "--causal"), "it offers what it does not take: %s", c.out);
}

TEST(program, writes_what_numpy_reads)
{
    const float x[6] = { 1, 3, 2, 0, 0, 0 };
    const double right[6] = { 0.0900306, 0.6652410, 0.2447285, 1. / 3, 1. / 3, 1. / 3 };
    char path[300];
    struct npy y;
    struct file_error error;
    write_scores("x.npy", x, 2, 3);
    const struct command c = command_run(PROGRAM "--input @/x.npy --output @/y.npy");
    cr_assert(c.status == 0, "status %d: %s", c.status, c.err);
    snprintf(path, sizeof path, "%s/y.npy", command_folder());
    cr_assert(npy_read(path, &y, &error), "%s", error.text);
    cr_assert(y.type == NPY_F4 && y.dims == 2 && y.shape[0] == 2 && y.shape[1] == 3,
              "the output is no float32 (2, 3)");
    for (size_t k = 0; k < 6; k++)
        cr_assert(fabs((double)((float *)y.data)[k] - right[k]) <= 1e-6, "element %zu is %g", k,
                  (double)((float *)y.data)[k]);
    npy_free(&y);
}

TEST(program, traces_counts_and_writes_csv)
{
    struct command c = command_run(PROGRAM "--rows 1 --cols 3 --trace");
    cr_assert(c.status == 0 && strstr(c.out, "Trace"), "it printed: %s", c.out);
    c = command_run(PROGRAM "--traffic --csv @/t.csv && cat @/t.csv");
    cr_assert(c.status == 0 && strstr(c.out, "Counted") && strstr(c.out, "03,3 N a row,80688,0,"),
              "it printed: %s", c.out);
}

TEST(program, takes_rows_of_minus_infinity_and_nan_as_ieee_has_them)
{
    const float x[6] = { -INFINITY, -INFINITY, -INFINITY, 1, NAN, 2 };
    write_scores("x.npy", x, 2, 3);
    const struct command c = command_run(PROGRAM "--input @/x.npy");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
}

TEST(program, refuses_bad_numbers)
{
    const char *const bad[] = { "0",    "-1",   "1e3", "3.5", "''", "abc", "99999999999999999999",
                                "0x10", "' 4'", "+4",  "4k" };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "--rows %s --output @/y.npy", bad[k]);
        refuses(arguments, "--rows: expected a whole number from 1 to 1000000000");
    }
    refuses("--seed -3", "--seed: expected a whole number from 0 to 18446744073709551615");
}

TEST(program, refuses_bad_options)
{
    refuses("--rosw 3", "--rosw");
    refuses("--causal", "--causal: expected an option of this chapter");
    refuses("--rows", "--rows: expected a value");
    refuses("3", "3: expected an option");
    refuses("-x", "-x");
    refuses("--quiet=yes", "--quiet");
    refuses("--input ''", "--input: expected a file's name");
    refuses("--trace", "--trace: expected an input of at most 64 numbers, found 26896");
}

TEST(program, refuses_options_that_contradict_each_other)
{
    write_scores("x.npy", (const float[]){ 1, 2 }, 1, 2);
    refuses("--input @/x.npy --rows 3", "--rows");
    refuses("--input @/x.npy --output @/x.npy", "x.npy: expected an output that is not the input");
    refuses("--input @/x.npy --output @/../${PWD##*/}/x.npy", "");
    refuses("--input @/x.npy --output @/y.npy --csv @/y.npy", "y.npy: expected one output a file");
}

TEST(program, refuses_what_is_no_row_of_scores)
{
    const float x[8] = { 0 };
    struct file_error error;
    char path[300];
    snprintf(path, sizeof path, "%s/x.npy", command_folder());
    cr_assert(npy_write(path, NPY_F4, 3, (size_t[]){ 2, 2, 2 }, x, &error), "%s", error.text);
    refuses("--input @/x.npy", "x.npy: expected scores of shape (N) or (R, N), found (2, 2, 2)");
    cr_assert(npy_write(path, NPY_B1, 1, (size_t[]){ 3 }, x, &error), "%s", error.text);
    refuses("--input @/x.npy", "x.npy: expected float16, float32 or float64 scores, found a mask");
    command_file("x.npy", "hello", 5);
    refuses("--input @/x.npy --output @/y.npy", "x.npy: expected");
    refuses("--input @/none.npy --output @/y.npy", "none.npy: ");
    refuses("--input @ --output @/y.npy", ": expected");
}

TEST(program, refuses_outputs_that_cannot_be_written)
{
    refuses("--output @/no/such/y.npy", "y.npy: expected");
    refuses("--output @", ": expected");
    refuses("--output /dev/full", "/dev/full: ");
    refuses("--csv /dev/full", "/dev/full: ");
    const struct command c = command_run(PROGRAM ">/dev/full");
    cr_assert(c.status == 2 && is_one_line_with(c.err, "standard output"), "status %d: %s",
              c.status, c.err);
}

TEST(program, leaves_what_was_there_when_it_fails)
{
    command_file("y.npy", "precious", 8);
    const struct command c =
        command_run("(ulimit -f 8; " PROGRAM "--output @/y.npy >/dev/null); echo $?; cat @/y.npy");
    cr_assert(strcmp(c.out, "2\nprecious") == 0 && command_files() == 1,
              "status and content: %s, %d files", c.out, command_files());
}

TEST(program, says_so_when_there_is_not_enough_memory)
{
    refuses("--rows 1000000000 --cols 1000000000", "out of memory");
}
