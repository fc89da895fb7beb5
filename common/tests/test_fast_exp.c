#include "common/cpu/fast_exp.h"

#include "common/tests/test.h"

TEST(fast_exp, is_within_1_2_ulp_of_exp_where_that_is_a_normal_number)
{
    double worst = 0.0, right_there = 0.0;
    float at = 0.0f;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 61) {
        const uint32_t word = (uint32_t)bits;
        float x;
        memcpy(&x, &word, sizeof x);
        if (!(x >= -87.336f && x <= 88.7228f))
            continue;
        int exponent;
        const double right = exp((double)x);
        frexp(right, &exponent);
        const double ulps = fabs((double)fast_exp(x) - right) / ldexp(1.0, exponent - 24);
        if (!(ulps <= worst)) {
            worst = ulps;
            at = x;
            right_there = right;
        }
    }
    cr_assert(worst <= 1.2, "off by %g ulp at %.9g: got %.9g, expected %.9g", worst, (double)at,
              (double)fast_exp(at), right_there);
}

TEST(fast_exp, is_zero_infinite_or_nan_beyond)
{
    const float zero[] = { -87.34f, -100, -1e30f, -INFINITY },
                infinite[] = { 88.73f, 1e30f, INFINITY };
    for (size_t k = 0; k < 4; k++)
        cr_assert(fast_exp(zero[k]) == 0.0f, "at %g: %g", (double)zero[k],
                  (double)fast_exp(zero[k]));
    for (size_t k = 0; k < 3; k++)
        cr_assert(fast_exp(infinite[k]) == INFINITY, "at %g: %g", (double)infinite[k],
                  (double)fast_exp(infinite[k]));
    cr_assert(isnan(fast_exp(NAN)), "NaN became %g", (double)fast_exp(NAN));
    cr_assert(fast_exp(0.0f) == 1.0f && fast_exp(-0.0f) == 1.0f, "e^0 is %g",
              (double)fast_exp(0.0f));
}
