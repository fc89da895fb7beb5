/*
 * The checkers themselves: what they let pass and what they must not.
 */
#include "common/check/tolerance.h"

#include "common/cpu/memory.h"
#include "common/tests/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 4 };
static const double right[N] = { 1.0, -2.0, 0.5, 0.0 };
static const struct allowance generous = { 1e3, 1e3 };

/* The difference when element 2 of an otherwise right result is x. */
static struct difference with(float x)
{
    const float got[N] = { 1.0f, -2.0f, x, 0.0f };
    return difference_between(got, right, N);
}

TEST(tolerance, of_a_right_result_is_zero)
{
    const struct difference d = with(0.5f);
    cr_assert(d.count == N && d.max_abs == 0.0 && d.max_rel == 0.0 && d.rms == 0.0 &&
                  d.mismatch == MATCHED && d.mismatched == 0,
              "max %g, rel %g, rms %g, %zu mismatched", d.max_abs, d.max_rel, d.rms, d.mismatched);
    cr_assert(within(d, (struct allowance){ 0.0, 0.0 }), "a perfect result was rejected");
}

/* Rounded to the nearest it may be, and no further off: a number cut off after its digits can be off by a whole ulp. */
TEST(tolerance, of_a_result_in_16_bits_is_half_an_ulp)
{
    enum { MANY = 1000 };
    static double numbers[MANY];
    static float nearest[MANY], cut[MANY];
    for (enum dtype type = DTYPE_BF16; type <= DTYPE_F16; type++) {
        const float one = ldexpf(1.0f, 1 - dtype_digits(type));  // an ulp of numbers from 1 to 2
        for (size_t k = 0; k < MANY; k++) {
            numbers[k] = 1.0 + (double)k / MANY;
            nearest[k] = dtype_round(type, (float)numbers[k]);
            cut[k] = floorf((float)numbers[k] / one) * one;
        }
        const struct allowance a =
            allowance_for_stored((struct allowance){ 1e-7, 0.0 }, numbers, MANY, type);
        cr_assert(within(difference_between(nearest, numbers, MANY), a), "%s: the nearest",
                  dtype_name(type));
        cr_assert(!within(difference_between(cut, numbers, MANY), a), "%s: cut off",
                  dtype_name(type));
    }
    const struct allowance same = allowance_for_stored(generous, numbers, MANY, DTYPE_F32);
    cr_assert(same.max_abs == generous.max_abs && same.rms == generous.rms, "more in float32");
}

TEST(tolerance, measures_errors_and_says_where)
{
    const struct difference d = with(0.75f);
    cr_assert(d.max_abs == 0.25 && d.max_rel == 0.5 && d.rms == 0.125, "max %g, rel %g, rms %g",
              d.max_abs, d.max_rel, d.rms);
    cr_assert(d.worst == 2 && d.got == 0.75 && d.expected == 0.5, "at %zu: got %g, expected %g",
              d.worst, d.got, d.expected);
}

TEST(tolerance, rejects_an_error_over_either_allowance)
{
    const struct difference d = with(0.75f);
    cr_assert(within(d, (struct allowance){ 0.25, 0.125 }), "an error just allowed was rejected");
    cr_assert(!within(d, (struct allowance){ 0.24, 1.0 }), "the largest error was not looked at");
    cr_assert(!within(d, (struct allowance){ 1.0, 0.12 }), "the rms error was not looked at");
    cr_assert(!within(d, (struct allowance){ (double)NAN, (double)NAN }),
              "an allowance of NaN let it pass");
}

TEST(tolerance, rejects_nan_however_generous)
{
    const struct difference d = with(NAN);
    cr_assert(!within(d, generous) && d.mismatch == NOT_A_NUMBER && d.worst == 2, "NaN passed");
}

TEST(tolerance, rejects_infinities_that_do_not_match)
{
    cr_assert(!within(with(INFINITY), generous) && with(INFINITY).mismatch == INFINITE,
              "+inf passed");
    cr_assert(!within(with(-INFINITY), generous), "-inf passed");
    const double infinite[1] = { (double)INFINITY };
    cr_assert(within(difference_between((float[]){ INFINITY }, infinite, 1), generous),
              "the infinity that was expected was rejected");
    cr_assert(!within(difference_between((float[]){ -INFINITY }, infinite, 1), generous),
              "the wrong infinity passed");
    cr_assert(!within(difference_between((float[]){ 3e38f }, infinite, 1), generous),
              "a number passed where an infinity was expected");
}

TEST(tolerance, takes_nan_where_nan_is_right)
{
    const double nan[1] = { (double)NAN };
    cr_assert(within(difference_between((float[]){ NAN }, nan, 1), generous), "NaN was rejected");
    cr_assert(!within(difference_between((float[]){ 1.0f }, nan, 1), generous),
              "a number passed where NaN was expected");
}

TEST(tolerance, rejects_elements_never_written_even_where_nan_is_right)
{
    const double nan[1] = { (double)NAN };
    float got[1];
    poison_fill(got, 1);
    const struct difference d = difference_between(got, nan, 1);
    cr_assert(!within(d, generous) && d.mismatch == NEVER_WRITTEN, "the poison passed for NaN");
    cr_assert(isnan(got[0] + 1.0f), "the poison is not NaN: %g", (double)got[0]);
}

TEST(tolerance, says_where_the_first_mismatch_is_and_how_many_there_are)
{
    const float got[N] = { 9.0f, NAN, INFINITY, 0.0f };
    const struct difference d = difference_between(got, right, N);
    cr_assert(d.worst == 1 && d.mismatch == NOT_A_NUMBER && d.mismatched == 2, "at %zu, %zu in all",
              d.worst, d.mismatched);
    cr_assert(d.max_abs == 8.0, "the largest error among the rest is %g, expected 8", d.max_abs);
}

TEST(tolerance, finds_the_worst_at_either_end)
{
    float got[N] = { 1.5f, -2.0f, 0.5f, 0.0f };
    cr_assert(difference_between(got, right, N).worst == 0, "not found at the beginning");
    got[0] = 1.0f;
    got[N - 1] = 0.5f;
    const struct difference d = difference_between(got, right, N);
    cr_assert(d.worst == N - 1 && d.max_rel == 0.0, "at %zu, relative %g", d.worst, d.max_rel);
}

TEST(allowance, is_a_multiple_of_the_textbook_error_and_a_floor_of_8_ulp)
{
    const float plain[N] = { 1.0f, -2.0f, 0.5f, 0x1p-12f };  // off by 2^-12 in one of four
    const double ulp = 0x1p-22;                              // of 2, the largest
    const struct allowance f = allowance_for(plain, right, N, FORWARD);
    const struct allowance g = allowance_for(plain, right, N, GRADIENT);
    cr_assert(f.max_abs == 4 * 0x1p-12 + 8 * ulp && f.rms == 2 * 0x1p-13 + 8 * ulp,
              "forward: max %g, rms %g", f.max_abs, f.rms);
    cr_assert(g.max_abs == 6 * 0x1p-12 + 8 * ulp && g.rms == 3 * 0x1p-13 + 8 * ulp,
              "gradient: max %g, rms %g", g.max_abs, g.rms);
}

TEST(allowance, of_a_rounded_gradient_has_an_ulp_of_its_type_besides)
{
    const struct allowance a = { 0.5, 0.25 };
    const struct allowance bf16 = allowance_for_rounded_gradient(a, 2.5, DTYPE_BF16);
    const struct allowance f16 = allowance_for_rounded_gradient(a, 0.3, DTYPE_F16);
    const struct allowance f32 = allowance_for_rounded_gradient(a, 2.5, DTYPE_F32);
    cr_assert(bf16.max_abs == 0.5 + 0x1p-6 && bf16.rms == 0.25 + 0x1p-6, "bf16: %g, %g",
              bf16.max_abs, bf16.rms);
    cr_assert(f16.max_abs == 0.5 + 0x1p-12 && f16.rms == 0.25 + 0x1p-12, "f16: %g, %g", f16.max_abs,
              f16.rms);
    cr_assert(f32.max_abs == 0.5 && f32.rms == 0.25, "f32: %g, %g", f32.max_abs, f32.rms);
}

TEST(allowance, ignores_infinities_and_survives_a_result_of_zeros)
{
    const double infinite[2] = { (double)-INFINITY, 1.0 }, zeros[2] = { 0.0, 0.0 };
    const struct allowance a = allowance_for((float[]){ -INFINITY, 1.0f }, infinite, 2, FORWARD);
    const struct allowance z = allowance_for((float[]){ 0.0f, 0.0f }, zeros, 2, FORWARD);
    cr_assert(a.max_abs == 8 * 0x1p-23, "with an infinity: %g", a.max_abs);
    cr_assert(z.max_abs == 8 * (double)FLT_TRUE_MIN, "for zeros: %g", z.max_abs);
}

TEST(allowance, of_few_sums_grows_with_the_square_root_of_their_length)
{
    enum { LENGTH = 400 };
    static float plain[LENGTH];
    static double even[LENGTH];
    for (size_t j = 0; j < LENGTH; j++) {
        plain[j] = 1.0f;
        even[j] = 1.0;
    }
    const struct allowance a = allowance_for_sums(plain, even, LENGTH, 4 * LENGTH, 4, 0.0);
    cr_assert(a.max_abs == (8 + 20) * 0x1p-23 && a.rms == a.max_abs, "max %g, rms %g", a.max_abs,
              a.rms);
}

TEST(allowance, of_outputs_grows_with_the_scores)
{
    const double reference[] = { 0.25, -1.0 };
    const float plain[] = { 0.25f, -1.0f };
    const struct allowance sums = allowance_for_sums(plain, reference, 2, 4, 1, 0.5);
    const struct allowance small = allowance_for_output(plain, reference, 2, 4, 1, 0.5, 0.0);
    const struct allowance large = allowance_for_output(plain, reference, 2, 4, 1, 0.5, 1e6);
    cr_assert_float_eq(small.max_abs, sums.max_abs, 1e-20);
    cr_assert_float_eq(large.rms, sums.rms + 0x1p-5, 1e-20);  // half an ulp of 1e6 is 2^-5
    cr_assert_float_eq(large.max_abs, sums.max_abs + 0x1p-3, 1e-20);
    cr_assert_float_eq(allowance_for_output(plain, reference, 2, 4, 1, 2.0, 1e6).rms,
                       allowance_for_sums(plain, reference, 2, 4, 1, 2.0).rms + 0x1p-4, 1e-20);
}

TEST(allowance, between_two_stages_adds_what_the_other_was_off)
{
    const struct allowance a = allowance_between(
        (struct allowance){ 3.0, 2.0 }, (struct difference){ .max_abs = 0.5, .rms = 0.25 });
    cr_assert(a.max_abs == 3.5 && a.rms == 2.25, "max %g, rms %g", a.max_abs, a.rms);
}

TEST(place, is_the_coordinates_of_an_element)
{
    const size_t shape[4] = { 2, 3, 5, 7 };
    char text[40];
    cr_assert(strcmp(place_of(2 * 35 + 4 * 7 + 6, 4, shape, text, sizeof text), "0, 2, 4, 6") == 0,
              "got %s", text);
    cr_assert(strcmp(place_of(105, 4, shape, text, sizeof text), "1, 0, 0, 0") == 0, "got %s",
              text);
    cr_assert(strcmp(place_of(5, 2, shape, text, sizeof text), "1, 2") == 0, "got %s", text);
    cr_assert(strlen(place_of(209, 4, shape, text, 4)) < 4, "wrote beyond the room it has");
}
