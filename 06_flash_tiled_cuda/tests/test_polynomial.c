/*
 * Powers of 2 by multiply-adds: how far they are from the true ones, and from those of the special-function unit.
 */
#include "memory.h"
#include "run.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

enum { PER_UNIT = 4096, FROM = -126, TO = 8, COUNT = (TO - FROM) * PER_UNIT + 1 };

TEST(polynomial, is_off_by_less_than_four_in_a_million_and_at_integers_by_nothing)
{
    float *x = allocate(COUNT, sizeof *x, "x");
    float *special = allocate(COUNT, sizeof *x, "2^x");
    float *polynomial = allocate(COUNT, sizeof *x, "2^x");
    float *shared = allocate(COUNT, sizeof *x, "2^x");
    for (size_t k = 0; k < COUNT; k++)
        x[k] = (float)FROM + (float)k / PER_UNIT;
    test_device()->powers(x, COUNT, special, polynomial, shared);
    double worst = 0.0, apart = 0.0;
    for (size_t k = 0; k < COUNT; k++) {
        const double right = exp2((double)x[k]), is = (double)polynomial[k];
        const double error = fabs(is / right - 1.0), other = fabs(is - (double)special[k]) / right;
        cr_assert(error <= 3.7e-6, "2^%.9g: %.9g, %g too far", (double)x[k], is, error);
        cr_assert(other <= 4e-6, "2^%.9g: %.9g, the unit has %.9g", (double)x[k], is,
                  (double)special[k]);
        cr_assert(k % PER_UNIT != 0 || is == right, "2^%g: %.9g", (double)x[k], is);
        worst = fmax(worst, error);
        apart = fmax(apart, other);
    }
    cr_assert(worst > 3e-6 && apart > 3e-6, "%g and %g: what has been compared?", worst, apart);
    free(shared);
    free(polynomial);
    free(special);
    free(x);
}

TEST(polynomial, is_zero_far_below_and_nan_of_nan)
{
    const float x[] = { -127.0f, -127.5f, -1000.0f, -3e38f, -INFINITY, NAN, -NAN };
    float special[7], polynomial[7], shared[7];
    test_device()->powers(x, 7, special, polynomial, shared);
    for (size_t k = 0; k < 5; k++)
        cr_assert(polynomial[k] == 0.0f && special[k] == 0.0f, "2^%g: %g and %g", (double)x[k],
                  (double)polynomial[k], (double)special[k]);
    cr_assert(isnan(polynomial[5]) && isnan(polynomial[6]), "2^NaN: %g", (double)polynomial[5]);
}

/* Of the 16 columns of a thread's scores: those whose weight is not the unit's are the polynomial's. */
TEST(polynomial, makes_a_quarter_of_the_weights)
{
    float x[16], special[16], polynomial[16], shared[16];
    size_t of_unit = 0, of_polynomial = 0;
    for (size_t k = 0; k < 16; k++)
        x[k] = -3.3f;  // the two are apart here
    test_device()->powers(x, 16, special, polynomial, shared);
    for (size_t k = 0; k < 16; k++) {
        cr_assert(special[k] != polynomial[k], "2^%g: %.9g in both ways", (double)x[k],
                  (double)special[k]);
        of_unit += shared[k] == special[k];
        of_polynomial += shared[k] == polynomial[k];
    }
    cr_assert(of_unit == 12 && of_polynomial == 4, "%zu by the unit, %zu by the polynomial",
              of_unit, of_polynomial);
}
