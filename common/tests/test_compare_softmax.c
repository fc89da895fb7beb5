#include "common/check/plain.h"
#include "common/check/tolerance.h"
#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COMPARE "${BUILD:-build}/compare --softmax @/x.npy "

enum { ROWS = 4, COLS = 5, ALL = ROWS * COLS };
static const size_t shape[2] = { ROWS, COLS };

/* Writes x.npy; y becomes its softmax. */
static void make_input(float *x, float *y)
{
    for (int k = 0; k < ALL; k++)
        x[k] = (float)(k * k % 7) - 0.375f * (float)k;
    command_array("x.npy", NPY_F4, 2, shape, x);
    plain_softmax(x, y, ROWS, COLS);
}

TEST(compare_softmax, finds_right_outputs_right)
{
    float x[ALL], y[ALL];
    make_input(x, y);
    command_array("y.npy", NPY_F4, 2, shape, y);
    const struct command c = command_run(COMPARE "@/y.npy @/y.npy");
    cr_assert(c.status == 0 && strstr(c.out, "4 rows of 5 scores") && strstr(c.out, " - ") &&
                  strstr(c.out, "0.00e+00") && !strstr(c.out, "WRONG"),
              "status %d: %s%s", c.status, c.out, c.err);
    command_array("x.npy", NPY_F4, 1, shape + 1, x);
    command_array("y.npy", NPY_F4, 1, shape + 1, y);
    cr_assert(command_run(COMPARE "@/y.npy").status == 0, "one row alone was rejected");
}

TEST(compare_softmax, finds_the_one_wrong_element_and_its_place)
{
    float x[ALL], y[ALL];
    make_input(x, y);
    command_array("right.npy", NPY_F4, 2, shape, y);
    y[2 * COLS + 3] += 0.25f;
    command_array("wrong.npy", NPY_F4, 2, shape, y);
    const struct command c = command_run(COMPARE "@/right.npy @/wrong.npy @/right.npy");
    const char *const at = strstr(c.out, "  at 2, 3: got "), *const wrong = strstr(c.out, "WRONG");
    cr_assert(c.status == 1 && at && wrong && !strstr(wrong + 1, "WRONG"), "status %d: %s%s",
              c.status, c.out, c.err);
    cr_assert(strstr(at, "2.50e-01   2, 3 "), "the last is held against the wrong one: %s", c.out);
    y[2 * COLS + 3] = NAN;
    command_array("wrong.npy", NPY_F4, 2, shape, y);
    const struct command nan = command_run(COMPARE "@/right.npy @/wrong.npy");
    cr_assert(nan.status == 1 && strstr(nan.out, "NaN or inf") &&
                  strstr(nan.out, "  at 2, 3: got NaN, expected 0."),
              "status %d: %s%s", nan.status, nan.out, nan.err);
}

TEST(compare_softmax, finds_many_small_errors_too_much)
{
    float x[ALL], y[ALL];
    struct exact right[ALL];
    make_input(x, y);
    rounding_softmax(x, right, ROWS, COLS);
    for (int k = 0; k < ALL; k++)
        y[k] = (float)(right[k].value + right[k].bias + 9.5 * right[k].sigma);
    command_array("y.npy", NPY_F4, 2, shape, y);
    const struct command c = command_run(COMPARE "@/y.npy");
    cr_assert(c.status == 1 && strstr(c.out, "; its row is "), "status %d: %s%s", c.status, c.out,
              c.err);
}

TEST(compare_softmax, refuses_files_it_cannot_use)
{
    float x[ALL], y[ALL];
    make_input(x, y);
    command_array("y.npy", NPY_F4, 2, shape, y);
    command_array("turned.npy", NPY_F4, 2, (size_t[]){ COLS, ROWS }, y);
    command_array("flat.npy", NPY_F4, 1, (size_t[]){ ALL }, y);
    command_array("mask.npy", NPY_U1, 2, shape, y);
    const char *const bad[][2] = {
        { "@/turned.npy", "turned.npy: expected the shape of the input, (4, 5), found (5, 4)" },
        { "@/flat.npy", "flat.npy: expected the shape of the input, (4, 5), found (20,)" },
        { "@/mask.npy", "mask.npy: expected float16" },
        { "@/y.npy @/none.npy", "none.npy: " },
        { "", "usage: " },
    };
    for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char words[300];
        snprintf(words, sizeof words, COMPARE "%s", bad[k][0]);
        const struct command c = command_run(words);
        cr_assert(c.status == 2 && is_one_line_with(c.err, bad[k][1]), "%s: status %d: %s",
                  bad[k][0], c.status, c.err);
    }
    const struct command c = command_run("${BUILD:-build}/compare --softmax @/none.npy @/y.npy");
    cr_assert(c.status == 2 && is_one_line_with(c.err, "none.npy: "), "status %d: %s", c.status,
              c.err);
}
