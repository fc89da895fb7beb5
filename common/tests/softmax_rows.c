#include "common/tests/softmax_rows.h"

#include "common/check/tolerance.h"
#include "common/cpu/memory.h"
#include "common/measure/traffic.h"
#include "common/measure/watch.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* printf would print NaN's sign. */
static double shown(double x)
{
    return isnan(x) ? fabs(x) : x;
}

void assert_softmax(softmax_row *softmax, const char *what, const float *x, size_t n)
{
    float *y = allocate(n, sizeof *y, "y");
    struct exact *right = allocate(n, sizeof *right, "reference");
    poison_fill(y, n);
    softmax(x, y, n);
    rounding_softmax(x, right, 1, n);
    const struct difference d = difference_between(y, right, 1, n);
    const size_t at = d.mismatched ? d.worst : d.farthest;
    cr_assert(is_explained(d),
              "%s, N = %zu, column %zu: got %.9g, expected %.9g (%.3g of what rounding explains)",
              what, n, at, shown((double)y[at]), shown(right[at].value), d.explained);
    free(y);
    free(right);
}

void assert_softmax_random(softmax_row *softmax, size_t n, float spread, float shift)
{
    char what[100];
    float *x = allocate(n, sizeof *x, "x");
    random_normals(x, n, 3, (uint32_t)n);
    for (size_t j = 0; j < n; j++)
        x[j] = x[j] * spread + shift;
    snprintf(what, sizeof what, "normal scores times %g plus %g", (double)spread, (double)shift);
    assert_softmax(softmax, what, x, n);
    free(x);
}

void assert_softmax_at_every_size(softmax_row *softmax, float spread)
{
    const size_t sizes[] = { 1,   2,   7,   63,   64,   65,   100,  127,  129,
                             200, 511, 513, 1000, 1023, 1025, 2047, 5000, 100000 };
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        assert_softmax_random(softmax, sizes[k], spread, 0.0f);
}

void assert_softmax_in_place(softmax_row *softmax)
{
    float x[] = { 1, 3, 2, -1 }, y[4];
    softmax(x, y, 4);
    softmax(x, x, 4);
    for (size_t j = 0; j < 4; j++)
        cr_assert(x[j] == y[j], "column %zu: %g in place, %g apart", j, (double)x[j], (double)y[j]);
}

void assert_softmax_stays_in_its_row(softmax_row *softmax)
{
    float y[5] = { 77, 0, 0, 0, 77 };
    softmax((const float[]){ 1, 2, 3 }, y + 1, 3);
    cr_assert(y[0] == 77.0f && y[4] == 77.0f, "the neighbours became %g and %g", (double)y[0],
              (double)y[4]);
}

void assert_softmax_accesses(softmax_row *watched, size_t loads)
{
    enum { EVERY_SIZE = 300, LARGEST = 5000 };
    static float x[LARGEST], y[LARGEST];
    random_normals(x, LARGEST, 1, 0);
    for (size_t n = 1; CAN_WATCH && n <= LARGEST; n += n < EVERY_SIZE ? 1 : 941) {
        traffic_reset();
        traffic_watch("x", x, n);
        traffic_watch("y", y, n);
        watched(x, y, n);
        const struct traffic of_x = traffic_of("x"), of_y = traffic_of("y");
        cr_assert(of_x.loads == loads * n && of_x.stores == 0 && of_y.loads == 0 &&
                      of_y.stores == n,
                  "a row of %zu: x[j] is read %zu times and should be read %zu times; y[j] is "
                  "written %zu times and should be written %zu times (x written %zu, y read %zu)",
                  n, of_x.loads, loads * n, of_y.stores, n, of_x.stores, of_y.loads);
    }
}

void assert_softmax_worked_numbers(softmax_row *softmax)
{
    const float right[4] = { 0.0321f, 0.0871f, 0.2369f, 0.6439f };
    float y[4] = { NAN, NAN, NAN, NAN };
    softmax((const float[]){ 1, 2, 3, 4 }, y, 4);
    for (size_t j = 0; j < 4; j++)
        cr_assert(fabsf(y[j] - right[j]) <= 0.00005f, "column %zu: got %g, expected %g", j,
                  (double)y[j], (double)right[j]);
}
