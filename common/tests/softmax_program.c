#include "common/tests/softmax_program.h"

#include "common/files/npy.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

void assert_program_tells(const char *program, const char *const parts[], unsigned count)
{
    struct command c = program_run(program, "");
    cr_assert(c.status == 0, "status %d: %s%s", c.status, c.out, c.err);
    for (unsigned k = 0; k < count; k++)
        cr_assert(strstr(c.out, parts[k]), "expected \"%s\" in what it prints", parts[k]);
    cr_assert(!strstr(c.out, "WRONG") && !strchr(c.out, '\033'), "it printed: %s", c.out);
    cr_assert(lines_of(c.out) <= 50, "more than a screen: %d lines", lines_of(c.out));
    const char *line = c.out;
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
        cr_assert(end - line <= 100, "wider than 100: %.*s", (int)(end - line), line);
}

void assert_program_takes_its_options(const char *program)
{
    struct command c = program_run(program, "--quiet");
    cr_assert(c.status == 0 && is_one_line_with(c.out, "ok"), "it printed: %s", c.out);
    c = program_run(program, "--help");
    cr_assert(c.status == 0 && strstr(c.out, "--input X.npy") && strstr(c.out, "example:"),
              "it printed: %s", c.out);
    cr_assert(!strstr(c.out, "--causal"), "it offers what it does not take: %s", c.out);
    c = program_run(program, "--rows 1 --cols 3 --trace");
    cr_assert(c.status == 0 && strstr(c.out, "Trace"), "it printed: %s", c.out);
    c = program_run(program, "--traffic --csv @/t.csv && cat @/t.csv");
    cr_assert(c.status == 0 && strstr(c.out, "Counted") && strstr(c.out, " N / row,") &&
                  strstr(c.out, ",yes"),
              "it printed: %s", c.out);
}

void assert_program_writes_what_numpy_reads(const char *program)
{
    const float x[6] = { 1, 3, 2, 0, 0, 0 };
    const double right[6] = { 0.0900306, 0.6652410, 0.2447285, 1. / 3, 1. / 3, 1. / 3 };
    for (int dims = 1; dims <= 2; dims++) {
        const size_t shape[2] = { 2, 3 };
        char path[300];
        struct npy y;
        struct file_error error;
        command_array("x.npy", NPY_F4, dims, shape + 2 - dims, x);
        const struct command c = program_run(program, "--input @/x.npy --output @/y.npy");
        cr_assert(c.status == 0, "status %d: %s", c.status, c.err);
        snprintf(path, sizeof path, "%s/y.npy", command_folder());
        cr_assert(npy_read(path, &y, &error), "%s", error.text);
        cr_assert(y.type == NPY_F4 && y.dims == dims && y.shape[dims - 1] == 3 &&
                      y.count == (dims == 1 ? 3 : 6),
                  "the output is no float32 array in the shape of the input");
        for (size_t k = 0; k < y.count; k++)
            cr_assert(fabs((double)((float *)y.data)[k] - right[k]) <= 1e-6, "element %zu is %g", k,
                      (double)((float *)y.data)[k]);
        npy_free(&y);
    }
}

void assert_program_refuses_bad_options(const char *program)
{
    const char *const bad[] = {
        "0",    "-1",   "1e3", "3.5", "''",        "abc", "99999999999999999999",
        "0x10", "' 4'", "+4",  "4k",  "1000000001"
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "--rows %s --output @/y.npy", bad[k]);
        command_refused(program, arguments, "--rows: expected a whole number from 1 to 1000000000");
    }
    command_refused(program, "--seed -3",
                    "--seed: expected a whole number from 0 to 18446744073709551615");
    command_refused(program, "--rosw 3", "--rosw");
    command_refused(program, "--causal", "--causal: expected an option of this chapter");
    command_refused(program, "--rows", "--rows: expected a value");
    command_refused(program, "3", "3: expected an option");
    command_refused(program, "-x", "-x");
    command_refused(program, "--quiet=yes", "--quiet");
    command_refused(program, "--input ''", "--input: expected a file's name");
    command_refused(program, "--input --output @/y.npy", "--input: expected a file's name");
    command_refused(program, "--trace",
                    "--trace: expected an input of at most 64 numbers, found 26896");
    command_array("x.npy", NPY_F4, 1, (size_t[]){ 2 }, (float[]){ 1, 2 });
    command_refused(program, "--input @/x.npy --rows 3", "--input");
}

void assert_program_refuses_bad_files(const char *program)
{
    const float x[8] = { 0 };
    command_array("x.npy", NPY_F4, 3, (size_t[]){ 2, 2, 2 }, x);
    command_refused(program, "--input @/x.npy --output @/y.npy",
                    "x.npy: expected scores of shape (N) or (R, N), found (2, 2, 2)");
    command_array("x.npy", NPY_B1, 1, (size_t[]){ 3 }, x);
    command_refused(program, "--input @/x.npy --output @/y.npy",
                    "x.npy: expected float16, float32 or float64 scores, found a mask");
    command_file("x.npy", "hello", 5);
    command_refused(program, "--input @/x.npy --output @/y.npy", "x.npy: expected");
    command_refused(program, "--input @/none.npy --output @/y.npy", "none.npy: ");
    command_refused(program, "--input @ --output @/y.npy", ": expected");
}

void assert_program_refuses_bad_outputs(const char *program)
{
    command_refused(program, "--output @/no/such/y.npy", "y.npy: expected");
    command_refused(program, "--output @", ": expected");
    struct command c = command_run("test -c /dev/full");
    if (c.status == 0) {  // Linux's full device
        command_refused(program, "--output /dev/full", "/dev/full: ");
        command_refused(program, "--csv /dev/full", "/dev/full: ");
        command_refused(program, "--output @/y.npy >/dev/full", "standard output: ");
        command_refused(program, "--help >/dev/full", "standard output: ");
    }
    command_refused(program, "--output @/y.npy >&-", "standard output: ");
    command_file("y.npy", "precious", 8);
    command_refused(program, "--rows 2 --output @/y.npy --csv @/no/such/y.csv", "y.csv: expected");
    c = command_run("cat @/y.npy");
    cr_assert(strcmp(c.out, "precious") == 0 && command_files() == 1, "it left: %s, %d files",
              c.out, command_files());
}

void assert_program_refuses_too_much(const char *program)
{
    if (!command_is_sanitized())
        command_refused(program, "--rows 1000000000 --cols 1000000000", "out of memory");
}
