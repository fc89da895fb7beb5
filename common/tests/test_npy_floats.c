#include "common/files/npy.h"
#include "common/tests/test.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

TEST(npy_floats, are_exact_for_every_float16)
{
    static uint16_t halves[65536];
    const struct npy array = { NPY_F2, 1, { 65536 }, 65536, halves };
    for (unsigned h = 0; h < 65536; h++)
        halves[h] = (uint16_t)h;
    float *floats = npy_floats(&array);
    unsigned wrong = 0, worst = 0;
    for (unsigned h = 0; h < 65536; h++) {
        const int exponent = h >> 10 & 31, fraction = h & 1023;
        uint32_t bits;
        memcpy(&bits, &floats[h], sizeof bits);
        bool right = isnan(floats[h]) || bits >> 31 == h >> 15;
        if (exponent == 31 && fraction)
            right = isnan(floats[h]);
        else if (exponent == 31)
            right = right && isinf(floats[h]);
        else
            right = right &&
                    fabs((double)floats[h]) ==
                        (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
        wrong += !right;
        worst = right ? worst : h;
    }
    cr_assert(wrong == 0, "%u are wrong: 0x%04X became %g", wrong, worst, (double)floats[worst]);
    free(floats);
}

TEST(npy_floats, are_rounded_to_nearest_even_from_float64)
{
    static const struct {
        double wide;
        float narrow;
    } cases[] = {
        { 1.0, 1.0f },
        { -0.1, -0.1f },
        { 1 + 0x1p-24, 1.0f },
        { 1 + 0x1p-24 + 0x1p-50, 1 + 0x1p-23f },
        { 1 + 0x3p-24, 1 + 0x1p-22f },
        { 0x1.fffffefffffffp127, 0x1.fffffep127f },
        { 0x1.ffffffp127, INFINITY },
        { 0x1p-149, 0x1p-149f },
        { 0x1.8p-149, 0x1p-148f },
        { 0x1p-150, 0.0f },
        { 0x1.0000000000001p-150, 0x1p-149f },
        { (double)-INFINITY, -INFINITY },
        { 1e300, INFINITY },
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    double wide[COUNT + 1];
    const struct npy array = { NPY_F8, 1, { COUNT + 1 }, COUNT + 1, wide };
    for (size_t k = 0; k < COUNT; k++)
        wide[k] = cases[k].wide;
    wide[COUNT] = (double)NAN;
    float *floats = npy_floats(&array);
    size_t worst = COUNT;
    for (size_t k = 0; k < COUNT; k++)
        worst = floats[k] == cases[k].narrow ? worst : k;
    cr_assert(worst == COUNT, "%a became %a", wide[worst], (double)floats[worst]);
    cr_assert(isnan(floats[COUNT]), "NaN became %g", (double)floats[COUNT]);
    free(floats);
}

TEST(npy_floats, are_themselves_from_other_types)
{
    const float numbers[3] = { 0x1p-149f, -0.0f, INFINITY };
    uint8_t bytes[3] = { 0, 1, 255 };
    float *floats = npy_floats(&(struct npy){ NPY_F4, 1, { 3 }, 3, (void *)(uintptr_t)numbers });
    cr_assert(memcmp(floats, numbers, sizeof numbers) == 0, "float32 changed");
    free(floats);
    floats = npy_floats(&(struct npy){ NPY_U1, 1, { 3 }, 3, bytes });
    cr_assert(floats[0] == 0.0f && floats[1] == 1.0f && floats[2] == 255.0f, "uint8 changed");
    free(floats);
    floats = npy_floats(&(struct npy){ NPY_B1, 1, { 2 }, 2, bytes });
    cr_assert(floats[0] == 0.0f && floats[1] == 1.0f, "bool changed");
    free(floats);
    uint16_t halves[2] = { 0x3FC0, 0xFF80 };
    floats = npy_floats(&(struct npy){ NPY_V2, 1, { 2 }, 2, halves });
    cr_assert(floats[0] == 1.5f && floats[1] == -INFINITY, "bfloat16 changed");
    free(floats);
}
