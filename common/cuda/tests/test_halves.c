/*
 * 16-bit numbers against their definition, for every seventh of 32,768 chunks of all floats. With e bits of exponent and f of
 * fraction, bits without the sign have the value
 *
 *     fraction 2^(1 - bias - f)  below the smallest normal number,
 *     (2^f + fraction) 2^(exponent - bias - f)  elsewhere.
 *
 * Walking through floats, the nearest number changes at midpoints, which round to even.
 */
#include "common/cuda/tests/primitives.h"

#include "common/tests/command.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

struct format {
    int exponent, fraction;
    void (*to)(uint32_t first, uint32_t count, uint16_t *bits);
    void (*from)(float *x);
};
static const struct format half = { 5, 10, to_halves_cpu, from_halves_cpu };
static const struct format bfloat = { 8, 7, to_bfloats_cpu, from_bfloats_cpu };

/* Without the sign; for infinity, the next power of 2. */
static double value_of(const struct format *f, uint32_t bits)
{
    const int bias = (1 << (f->exponent - 1)) - 1, exponent = (int)(bits >> f->fraction);
    const int fraction = (int)(bits & ((1u << f->fraction) - 1));
    return exponent == 0 ? ldexp(fraction, 1 - bias - f->fraction)
                         : ldexp((1 << f->fraction) + fraction, exponent - bias - f->fraction);
}

static uint32_t infinity_of(const struct format *f)
{
    return ((1u << f->exponent) - 1) << f->fraction;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

enum { CHUNK = 1 << 16 };

/* Under a sanitizer or an emulator in fewer chunks. */
static void assert_rounds_to_nearest(const struct format *f, uint32_t sign)
{
    static uint16_t bits[CHUNK];
    const uint32_t stride = command_is_sanitized() || getenv("EMULATOR") ? 61 : 7, end = 0x7f800000;
    uint32_t nearest = 0;
    double middle = value_of(f, 1) / 2;
    for (uint32_t first = 0; first < end; first += CHUNK * stride) {
        f->to(sign | first, CHUNK, bits);
        for (uint32_t k = 0; k < CHUNK && first + k < end; k++) {
            const double x = (double)float_of(first + k);
            while (nearest < infinity_of(f) && (x > middle || (x == middle && nearest % 2 == 1))) {
                nearest++;
                middle = (value_of(f, nearest) + value_of(f, nearest + 1)) / 2;
            }
            if (bits[k] != (sign >> 16 | nearest))
                cr_assert_fail("%a became %04x, expected %04x", x, bits[k], sign >> 16 | nearest);
        }
    }
}

static void assert_nan_stays_nan(const struct format *f)
{
    static uint16_t bits[CHUNK];
    for (uint32_t first = 0x7f800000; first < 0x80000000; first += CHUNK) {
        f->to(first, CHUNK, bits);
        for (uint32_t k = first == 0x7f800000; k < CHUNK; k++)
            cr_assert((bits[k] & 0x7fff) > infinity_of(f), "NaN %08x became %04x", first + k,
                      bits[k]);
        f->to(first | 0x80000000, CHUNK, bits);
        cr_assert((bits[1] & 0x7fff) > infinity_of(f), "NaN became %04x", bits[1]);
    }
    f->to(0x7f800000, 1, bits);
    cr_assert(bits[0] == infinity_of(f), "infinity became %04x", bits[0]);
}

static void assert_widens_exactly(const struct format *f)
{
    static float x[65536];
    f->from(x);
    for (uint32_t k = 0; k < 32768; k++) {
        const double expected = k == infinity_of(f) ? (double)INFINITY : value_of(f, k);
        if (k > infinity_of(f))
            cr_assert(isnan(x[k]) && isnan(x[k + 32768]), "%04x is no NaN", k);
        else
            cr_assert((double)x[k] == expected && (double)x[k + 32768] == -expected &&
                          signbit(x[k + 32768]),
                      "%04x is %a, expected %a", k, (double)x[k], expected);
    }
}

TEST(halves, every_positive_float_rounds_to_the_nearest)
{
    assert_rounds_to_nearest(&half, 0);
}

TEST(halves, every_negative_float_rounds_to_the_nearest)
{
    assert_rounds_to_nearest(&half, 0x80000000);
}

TEST(halves, keep_nan_and_infinity)
{
    assert_nan_stays_nan(&half);
}

TEST(halves, widen_exactly)
{
    assert_widens_exactly(&half);
}

TEST(bfloats, every_positive_float_rounds_to_the_nearest)
{
    assert_rounds_to_nearest(&bfloat, 0);
}

TEST(bfloats, every_negative_float_rounds_to_the_nearest)
{
    assert_rounds_to_nearest(&bfloat, 0x80000000);
}

TEST(bfloats, keep_nan_and_infinity)
{
    assert_nan_stays_nan(&bfloat);
}

TEST(bfloats, widen_exactly)
{
    assert_widens_exactly(&bfloat);
}
