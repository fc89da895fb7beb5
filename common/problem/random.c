#include "common/problem/random.h"

#include <math.h>

/* The key differs from dropout's, so that one seed for both does not reuse words. */
static struct philox words(uint64_t seed, uint32_t stream, uint64_t index, uint32_t attempt)
{
    struct philox counter = { { (uint32_t)index, (uint32_t)(index >> 32), attempt, stream } };
    return philox4x32(counter, seed ^ 0x636F75727365);
}

double random_uniform(uint64_t seed, uint32_t stream, uint64_t index)
{
    return words(seed, stream, index, 0).word[0] * 0x1p-32;
}

size_t random_between(uint64_t seed, uint32_t stream, uint64_t index, size_t low, size_t high)
{
    return low + (size_t)(random_uniform(seed, stream, index) * (double)(high - low + 1));
}

/*
 * ln x for 0 < x < 1. libm's log may differ in its last bit between machines; this one uses only +
 * - * /, which IEEE 754 defines exactly. With x = 2^e m and z = (m - 1)/(m + 1):
 *
 *     ln x = e ln 2 + 2 (z + z^3/3 + z^5/5 + …),  |z| < 0.172
 */
static double logarithm(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        e--;
    }
    double z = (m - 1.0) / (m + 1.0), sum = 0.0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * z * z + 1.0 / k;
    return e * 0.69314718055994531 + 2.0 * z * sum;
}

/* Marsaglia's polar method: random points until one is inside the unit disc. */
double random_normal(uint64_t seed, uint32_t stream, uint64_t index)
{
    for (uint32_t attempt = 1;; attempt++) {
        struct philox w = words(seed, stream, index, attempt);
        double u = w.word[0] * 0x1p-31 - 1.0, v = w.word[1] * 0x1p-31 - 1.0;
        double s = u * u + v * v;
        if (s > 0.0 && s < 1.0)
            return u * sqrt(-2.0 * logarithm(s) / s);
    }
}

void random_normals(float *x, size_t n, uint64_t seed, uint32_t stream)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)random_normal(seed, stream, i);
}
