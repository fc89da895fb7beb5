#include "common/problem/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    int digits, exponent_bits;
} types[DTYPES] = {
    [DTYPE_F32] = { "f32", 4, 24, 8 },
    [DTYPE_BF16] = { "bf16", 2, 8, 8 },
    [DTYPE_F16] = { "f16", 2, 11, 5 },
};

const char *dtype_name(enum dtype type)
{
    return types[type].name;
}

enum dtype dtype_named(const char *name)
{
    int type = 0;
    while (type < DTYPES && strcmp(types[type].name, name) != 0)
        type++;
    return (enum dtype)type;
}

size_t dtype_bytes(enum dtype type)
{
    return types[type].bytes;
}

int dtype_digits(enum dtype type)
{
    return types[type].digits;
}

/* The exponent of the smallest normal number; subnormals have its last digit. */
static int least_exponent(enum dtype type)
{
    return 2 - (1 << (types[type].exponent_bits - 1));
}

/*
 * The upper 16 bits, rounded: a carry goes into the exponent, and beyond the largest number to
 * infinity.
 */
static uint32_t upper_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

float dtype_round(enum dtype type, float x)
{
    if (type == DTYPE_F32 || x == 0.0f || !isfinite(x))
        return x;
    if (type == DTYPE_BF16) {  // the fast path: GPU benchmarks round a billion numbers
        const uint32_t bits = upper_half(x) << 16;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    const int exponent = ilogbf(x), least = least_exponent(type);
    const int last = (exponent > least ? exponent : least) - (types[type].digits - 1);
    const double rounded = ldexp(rint(ldexp((double)x, -last)), last);
    const double most = ldexp(4.0, -least);  // the power of 2 after the largest number
    return fabs(rounded) >= most ? copysignf(INFINITY, x) : (float)rounded;
}

uint16_t dtype_bits(enum dtype type, float x)
{
    const int fraction_bits = types[type].digits - 1, least = least_exponent(type);
    const unsigned sign = signbit(x) ? 0x8000 : 0;
    const unsigned infinity = ((1U << types[type].exponent_bits) - 1) << fraction_bits;
    if (isnan(x))
        return 0x7fff;
    if (type == DTYPE_BF16)
        return (uint16_t)upper_half(x);
    const double size = fabs((double)dtype_round(type, x));
    if (isinf(size))
        return (uint16_t)(sign | infinity);
    if (size < ldexp(1.0, least))
        return (uint16_t)(sign | (unsigned)ldexp(size, fraction_bits - least));
    const int exponent = ilogb(size);
    const unsigned fraction =
        (unsigned)ldexp(size, fraction_bits - exponent);  // with its leading 1
    return (uint16_t)(sign | (((unsigned)(exponent - least) << fraction_bits) + fraction));
}

float dtype_number(enum dtype type, uint16_t bits)
{
    const int fraction_bits = types[type].digits - 1, least = least_exponent(type);
    const unsigned size = bits & 0x7fff, fraction = size & ((1U << fraction_bits) - 1);
    const int exponent = (int)(size >> fraction_bits);
    float x = exponent == 0 ? ldexpf((float)fraction, least - fraction_bits)
                            : ldexpf((float)(fraction + (1U << fraction_bits)),
                                     exponent - 1 + least - fraction_bits);
    if (exponent == (1 << types[type].exponent_bits) - 1)
        x = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -x : x;
}

void dtype_round_all(enum dtype type, float *x, size_t n)
{
    for (size_t k = 0; k < n && type != DTYPE_F32; k++)
        x[k] = dtype_round(type, x[k]);
}
