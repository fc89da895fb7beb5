#include "common/check/gradient_check.h"
#include "common/measure/accesses.h"
#include "common/measure/traffic.h"
#include "common/program/report.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

static float x[4], y[4];

/* 4 loads of x and 2 stores to y, with `loads` and `stores` predicted. */
static bool is_as_predicted(size_t loads, size_t stores, size_t *total)
{
    struct accesses a = { .n = 0 };
    traffic_reset();
    traffic_watch("x", x, 4);
    traffic_watch("y", y, 4);
    for (size_t j = 0; j < 4; j++)
        traffic_count(&x[j], 1, false);
    for (size_t j = 0; j < 4; j += 2)
        traffic_count(&y[j], 1, true);
    accesses_add(&a, "x loads", loads, "N");
    if (stores > 0)
        accesses_add(&a, "y stores", stores, "N / 2");
    const bool right = accesses_sum(&a, "N + N / 2", total);
    const struct counted *all = &a.line[a.n - 1];
    cr_assert(a.line[0].count == 4 && a.line[0].predicted == loads &&
                  strcmp(all->what, "all") == 0 && all->count == 6 &&
                  all->predicted == loads + stores,
              "%zu loads, %zu in all, %zu predicted", a.line[0].count, all->count, all->predicted);
    return right;
}

TEST(accesses, are_right_if_every_line_and_their_sum_are)
{
    size_t total = 0;
    cr_assert(is_as_predicted(4, 2, &total) && total == 6, "%zu accesses", total);
    cr_assert(!is_as_predicted(5, 1, &total), "wrong lines whose sum is right");
    cr_assert(!is_as_predicted(4, 0, &total), "an array that no line speaks of");
}

TEST(tables, nan_is_the_worst_error)
{
    const double nan = (double)NAN;
    cr_assert(larger_error(1.0, 2.0) == 2.0 && larger_error(2.0, 1.0) == 2.0, "the larger one");
    cr_assert(isnan(larger_error(nan, 1.0)) && isnan(larger_error(1.0, nan)), "NaN");
}

TEST(tables, lines_that_do_not_fit_are_left_out)
{
    char csv[REPORT_CSV] = "";
    for (int n = 0; n < 2 * REPORT_CSV / 10; n++)
        report_append(csv, "123456789\n");
    cr_assert(strlen(csv) == REPORT_CSV - 1 && strncmp(csv, "123456789\n123", 13) == 0,
              "%zu: %.20s", strlen(csv), csv);
}

TEST(tables, amounts_of_memory_have_a_unit_that_fits)
{
    char text[32];
    cr_assert(strcmp(report_bytes(0, text), "none") == 0, "%s", text);
    cr_assert(strcmp(report_bytes(9999, text), "9999 B") == 0, "%s", text);
    cr_assert(strcmp(report_bytes(49152, text), "49.2 kB") == 0, "%s", text);
    cr_assert(strcmp(report_bytes(528482304, text), "528.5 MB") == 0, "%s", text);
    cr_assert(strcmp(report_bytes(25276514304, text), "25.3 GB") == 0, "%s", text);
}
