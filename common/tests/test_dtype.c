#include "common/problem/dtype.h"
#include "common/problem/random.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

static const enum dtype small[] = { DTYPE_BF16, DTYPE_F16 };

TEST(dtype, every_number_of_16_bits_is_itself)
{
    for (int k = 0; k < 2; k++)
        for (unsigned bits = 0; bits < 65536; bits++) {
            const float x = dtype_number(small[k], (uint16_t)bits);
            if (isnan(x))
                continue;
            cr_assert(dtype_round(small[k], x) == x && dtype_bits(small[k], x) == bits,
                      "%s %04x is %g, and back %04x", dtype_name(small[k]), bits, (double)x,
                      dtype_bits(small[k], x));
        }
}

TEST(dtype, bfloat16_is_the_upper_half_of_a_float)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        const uint32_t whole = bits << 16;
        float x;
        memcpy(&x, &whole, sizeof x);
        cr_assert(isnan(x) ? isnan(dtype_number(DTYPE_BF16, (uint16_t)bits))
                           : dtype_number(DTYPE_BF16, (uint16_t)bits) == x,
                  "%04x is not %g", bits, (double)x);
    }
}

TEST(dtype, rounds_to_the_nearest_and_ties_to_even)
{
    for (int k = 0; k < 2; k++)
        for (unsigned bits = 0; bits < 0x7bff; bits++) {
            const float low = dtype_number(small[k], (uint16_t)bits);
            const float high = dtype_number(small[k], (uint16_t)(bits + 1));
            const float middle = (float)(((double)low + (double)high) / 2);
            const float even = bits % 2 ? high : low;
            cr_assert(dtype_round(small[k], middle) == even &&
                          dtype_round(small[k], -middle) == -even &&
                          dtype_round(small[k], nextafterf(middle, 0.0f)) == low &&
                          dtype_round(small[k], nextafterf(middle, INFINITY)) == high,
                      "%s: between %g and %g", dtype_name(small[k]), (double)low, (double)high);
        }
}

TEST(dtype, ends_where_its_range_ends)
{
    cr_assert(dtype_round(DTYPE_F16, 65519.0f) == 65504.0f, "65519 is not 65504");
    cr_assert(dtype_round(DTYPE_F16, 65520.0f) == INFINITY, "65520 is finite");
    cr_assert(dtype_round(DTYPE_F16, -1e9f) == -INFINITY, "-1e9 is finite");
    cr_assert(dtype_round(DTYPE_BF16, 3.4e38f) == INFINITY, "3.4e38 is finite in bf16");
    cr_assert(dtype_round(DTYPE_BF16, 3.38e38f) < INFINITY, "3.38e38 is not finite in bf16");
    cr_assert(dtype_round(DTYPE_F16, 2e-8f) == 0.0f && dtype_round(DTYPE_F16, 4e-8f) == 0x1p-24f,
              "2^-24 is the smallest f16");
    cr_assert(isnan(dtype_round(DTYPE_F16, NAN)) && isinf(dtype_round(DTYPE_BF16, INFINITY)),
              "NaN or infinity has changed");
    cr_assert(isnan(dtype_number(DTYPE_F16, dtype_bits(DTYPE_F16, NAN))), "NaN has no bits");
}

TEST(dtype, leaves_float32_alone)
{
    for (uint64_t k = 0; k < 100; k++) {
        float x;
        random_normals(&x, 1, k, 0);
        cr_assert(dtype_round(DTYPE_F32, x) == x, "%g", (double)x);
    }
    cr_assert(dtype_named("bf16") == DTYPE_BF16 && dtype_named("half") == DTYPES, "names");
}
