#include "common/problem/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    int digits;
} types[DTYPES] = {
    [DTYPE_F32] = { "f32", 4, 24 },
    [DTYPE_BF16] = { "bf16", 2, 8 },
    [DTYPE_F16] = { "f16", 2, 11 },
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

float dtype_round(enum dtype type, float x)
{
    return type == DTYPE_F32 || !isfinite(x) ? x : dtype_number(type, dtype_bits(type, x));
}

/* Of float16. The last digit of a subnormal number is that of the smallest normal one. */
enum { FRACTION_BITS = 10, LEAST_EXPONENT = -14, F16_INFINITY = 0x7c00 };

uint16_t dtype_bits(enum dtype type, float x)
{
    uint32_t bits;
    if (isnan(x))
        return 0x7fff;         // in both types
    if (type == DTYPE_BF16) {  // the upper half; a carry goes into the exponent
        memcpy(&bits, &x, sizeof bits);
        return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    const int exponent = x == 0.0f || ilogbf(x) < LEAST_EXPONENT ? LEAST_EXPONENT : ilogbf(x);
    bits = F16_INFINITY;
    if (exponent < 16)  // with its leading 1, which adds one to the exponent
        bits = ((uint32_t)(exponent - LEAST_EXPONENT) << FRACTION_BITS) +
               (uint32_t)rint(ldexp(fabs((double)x), FRACTION_BITS - exponent));
    return (uint16_t)((bits < F16_INFINITY ? bits : F16_INFINITY) | (signbit(x) ? 0x8000 : 0));
}

float dtype_number(enum dtype type, uint16_t bits)
{
    float x;
    if (type == DTYPE_BF16) {
        const uint32_t all = (uint32_t)bits << 16;
        memcpy(&x, &all, sizeof x);
        return x;
    }
    const unsigned size = bits & 0x7fff, one = 1U << FRACTION_BITS, fraction = size % one;
    const int exponent = (int)(size / one);
    x = exponent == 0
            ? ldexpf((float)fraction, LEAST_EXPONENT - FRACTION_BITS)
            : ldexpf((float)(fraction + one), exponent - 1 + LEAST_EXPONENT - FRACTION_BITS);
    if (size >= F16_INFINITY)
        x = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -x : x;
}

void dtype_round_all(enum dtype type, float *x, size_t n)
{
    for (size_t k = 0; k < n && type != DTYPE_F32; k++)
        x[k] = dtype_round(type, x[k]);
}
