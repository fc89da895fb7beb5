#include "common/check/tolerance.h"

#include "common/cpu/memory.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static enum mismatch mismatch_of(float got, double expected)
{
    if (poison_is(got))
        return NEVER_WRITTEN;
    if (isnan(got) != isnan(expected))
        return NOT_A_NUMBER;
    if ((isinf(got) || isinf(expected)) && (double)got != expected)
        return INFINITE;
    return MATCHED;
}

/* Takes element i into account; `rms` holds the sum of squares for now. */
static void take(struct difference *d, size_t i, float got, double expected)
{
    const enum mismatch mismatch = mismatch_of(got, expected);
    const bool first_mismatch = mismatch && d->mismatched++ == 0;
    double error = 0.0;
    if (!mismatch && isfinite(expected)) {
        error = fabs((double)got - expected);
        d->rms += error * error;
        if (expected != 0.0)
            d->max_rel = fmax(d->max_rel, error / fabs(expected));
    }
    if (first_mismatch || (d->mismatched == 0 && (i == 0 || error > d->max_abs))) {
        d->mismatch = mismatch;
        d->worst = i;
        d->got = (double)got;
        d->expected = expected;
    }
    d->max_abs = fmax(d->max_abs, error);
}

double worse_error(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

struct difference difference_between(const float *got, const double *expected, size_t n)
{
    struct difference d = { .count = n };
    for (size_t i = 0; i < n; i++)
        take(&d, i, got[i], expected[i]);
    d.rms = n > d.mismatched ? sqrt(d.rms / (double)(n - d.mismatched)) : 0.0;
    return d;
}

/* The distance from |x| to the next float32 above it. */
static double ulp(double x)
{
    return x < (double)FLT_MIN ? (double)FLT_TRUE_MIN : ldexp(1.0, ilogb(x) - (FLT_MANT_DIG - 1));
}

/* The largest of the finite numbers. */
static double largest_of(const double *x, size_t n)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* The distance to the next float32 from the largest of the finite numbers in x, at least `least`. */
static double ulp_of_largest(const double *x, size_t n, double least)
{
    return ulp(fmax(largest_of(x, n), least));
}

struct allowance allowance_for(const float *plain, const double *reference, size_t n,
                               enum direction direction)
{
    const double of_max = direction == FORWARD ? 4.0 : 6.0;
    const double of_rms = direction == FORWARD ? 2.0 : 3.0;
    const struct difference textbook = difference_between(plain, reference, n);
    const double floor = 8.0 * ulp_of_largest(reference, n, 0.0);
    return (struct allowance){
        .max_abs = of_max * textbook.max_abs + floor,
        .rms = of_rms * textbook.rms + floor,
    };
}

struct allowance allowance_for_sums(const float *plain, const double *reference, size_t n,
                                    size_t terms, size_t sums, double term)
{
    struct allowance allowance = allowance_for(plain, reference, n, FORWARD);
    const double luck = sqrt((double)terms / (double)sums) * ulp_of_largest(reference, n, term);
    allowance.max_abs += luck;
    allowance.rms += luck;
    return allowance;
}

struct allowance allowance_of_type(struct allowance allowance, const double *reference, size_t n,
                                   enum dtype type)
{
    if (type == DTYPE_F32)
        return allowance;
    const double one = ldexp(ulp_of_largest(reference, n, 0.0), FLT_MANT_DIG - dtype_digits(type));
    allowance.max_abs += 8.0 * one;
    allowance.rms += one;
    return allowance;
}

static struct allowance and_more(struct allowance allowance, double more)
{
    allowance.max_abs += 4.0 * more;  // terms four times as large are not rare
    allowance.rms += more;
    return allowance;
}

struct allowance allowance_for_output(const float *plain, const double *reference, size_t n,
                                      size_t terms, size_t sums, double term, double lse)
{
    return and_more(allowance_for_sums(plain, reference, n, terms, sums, term),
                    0.5 * ulp(lse) * fmax(largest_of(reference, n), term));
}

struct allowance allowance_for_gradient(const float *plain, const double *reference, size_t n,
                                        double term, double lse)
{
    const double largest = largest_of(reference, n);
    const double cancelled = 8.0 * (ulp(fmax(largest, term)) - ulp(largest));
    return and_more(allowance_for(plain, reference, n, GRADIENT),
                    cancelled + 0.5 * ulp(lse) * fmax(largest, term));
}

struct allowance allowance_for_rounded_gradient(struct allowance allowance, double sum,
                                                enum dtype type)
{
    if (type == DTYPE_F32)
        return allowance;
    const double more = ldexp(ulp(sum), FLT_MANT_DIG - dtype_digits(type));
    allowance.max_abs += more;
    allowance.rms += more;
    return allowance;
}

struct allowance allowance_for_stored(struct allowance allowance, const double *reference, size_t n,
                                      enum dtype type)
{
    if (type == DTYPE_F32)
        return allowance;
    const double one = ldexp(ulp_of_largest(reference, n, 0.0), FLT_MANT_DIG - dtype_digits(type));
    const double half = 0.5 * fmax(one, type == DTYPE_F16 ? 0x1p-24 : 0.0);  // the smallest float16
    allowance.max_abs += half;
    allowance.rms += half;
    return allowance;
}

struct allowance allowance_between(struct allowance allowance, struct difference other)
{
    return (struct allowance){
        .max_abs = allowance.max_abs + other.max_abs,
        .rms = allowance.rms + other.rms,
    };
}

bool within(struct difference difference, struct allowance allowance)
{
    return difference.mismatched == 0 && difference.max_abs <= allowance.max_abs &&
           difference.rms <= allowance.rms;
}

void comparison_keep_worse(struct comparison *worst, struct comparison c)
{
    if (!worst->with) {  // the first there is
        *worst = c;
        return;
    }
    const bool right = within(c.difference, c.allowance);
    if (within(worst->difference, worst->allowance) &&
        (!right || c.difference.max_abs > worst->difference.max_abs))
        *worst = c;
}

char *place_of(size_t index, int dims, const size_t *shape, char *text, size_t size)
{
    size_t coordinate[8] = { 0 };
    for (int k = dims - 1; k >= 0; k--) {
        coordinate[k] = index % shape[k];
        index /= shape[k];
    }
    size_t used = 0;
    for (int k = 0; k < dims && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, k ? ", %zu" : "%zu", coordinate[k]);
    return text;
}
