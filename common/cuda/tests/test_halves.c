/*
 * 16-bit numbers against their definition, for every float there is.
 *
 * A format has e bits of exponent and f of fraction. Bits without the sign are the value
 *
 *     fraction 2^(1 - bias - f)  below the smallest normal number,
 *     (2^f + fraction) 2^(exponent - bias - f)  elsewhere.
 *
 * The nearest to a float is found by walking through both in order: it changes where the float
 * passes the middle between two neighbours, and the middle itself goes to the even one.
 */
#include "primitives.h"

#include "command.h"
#include "random.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct format {
    int exponent, fraction;
    void (*to)(uint32_t first, uint32_t count, uint16_t *bits);
    void (*from)(float *x);
    void (*arithmetic)(uint16_t x, uint16_t y, uint16_t z, uint16_t out[4]);
};
static const struct format half = { 5, 10, to_halves_cpu, from_halves_cpu, half_arithmetic_cpu };
static const struct format bfloat = { 8, 7, to_bfloats_cpu, from_bfloats_cpu,
                                      bfloat_arithmetic_cpu };

/* The value of bits below the sign; where infinity would stand, the next power of 2. */
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

/*
 * All floats of one sign, a chunk of neighbours at a time. Under a sanitizer or an emulator, which
 * take many times as long, some of the chunks.
 */
static void assert_rounds_to_nearest(const struct format *f, uint32_t sign)
{
    static uint16_t bits[CHUNK];
    const uint32_t stride = command_is_sanitized() || getenv("EMULATOR") ? 61 : 1, end = 0x7f800000;
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

/*
 * The nearest to a number known in long double. It has 64 digits, or, where it is a double, 53. Both hold every
 * product of two of these; a sum or quotient of two rounds to the same as if it had all its digits, since both have
 * more than twice as many as these and two.
 */
static uint16_t nearest_to(const struct format *f, long double x)
{
    const long double size = fabsl(x);
    uint32_t low = 0, high = infinity_of(f);
    while (high - low > 1) {
        const uint32_t between = (low + high) / 2;
        if ((long double)value_of(f, between) <= size)
            low = between;
        else
            high = between;
    }
    const long double middle =
        ((long double)value_of(f, low) + (long double)value_of(f, low + 1)) / 2;
    if (size > middle || (size == middle && low % 2 == 1))
        low++;
    return (uint16_t)(low | (signbit(x) ? 0x8000 : 0));
}

static void assert_arithmetic(const struct format *f)
{
    static float value[65536];
    const double most = ldexp(1, LDBL_MANT_DIG - 4);
    f->from(value);
    for (uint64_t n = 0; n < 200000; n++) {
        const struct philox draw = philox4x32((struct philox){ { (uint32_t)n, 0, 0, 0 } }, 6);
        const uint16_t x = (uint16_t)draw.word[0], y = (uint16_t)draw.word[1];
        const uint16_t z = (uint16_t)draw.word[2];
        const long double a = (long double)value[x], b = (long double)value[y];
        uint16_t got[4];
        if (!isfinite(value[x]) || !isfinite(value[y]) || value[y] == 0.0f || value[x] == 0.0f)
            continue;
        f->arithmetic(x, y, z, got);
        const long double exact[3] = { a + b, a * b, a / b };
        for (int k = 0; k < 3; k++)
            cr_assert(got[k] == nearest_to(f, exact[k]) || exact[k] == 0.0L,
                      "%04x and %04x: operation %d gives %04x, expected %04x", x, y, k, got[k],
                      nearest_to(f, exact[k]));
        if (!isfinite(value[z]))
            continue;
        // Of a sum too long for long double only the sign of what is lost counts; most keeps that in it.
        const long double product = a * b, c = (long double)value[z];
        const double small = (double)product, whole = fma((double)a, (double)b, (double)c);
        if (fabs(small) < most * fabs((double)c) && fabs((double)c) < most * fabs(small) &&
            product + c - product == c && whole != 0.0)
            cr_assert(got[3] == nearest_to(f, product + c),
                      "%04x %04x %04x: fma gives %04x, expected %04x", x, y, z, got[3],
                      nearest_to(f, product + c));
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

TEST(halves, arithmetic_is_rounded_once)
{
    assert_arithmetic(&half);
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

TEST(bfloats, arithmetic_is_rounded_once)
{
    assert_arithmetic(&bfloat);
}
