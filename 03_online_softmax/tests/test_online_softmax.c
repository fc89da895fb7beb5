/*
 * Online softmax of one row: worked numbers, every size, and what IEEE says of infinities and NaN.
 */
#include "../online_softmax.h"
#include "memory.h"
#include "plain.h"
#include "random.h"
#include "reference.h"
#include "test.h"
#include "tolerance.h"

#include <math.h>

/* Takes the softmax of x into poisoned memory and demands the reference's answer, within reason. */
static void check(const char *what, const float *x, size_t n)
{
    float *y = allocate(n, sizeof *y, "y"), *plain = allocate(n, sizeof *plain, "plain");
    double *right = allocate(n, sizeof *right, "reference");
    tolerance_poison(y, n);
    online_softmax(x, y, n);
    reference_softmax(x, right, 1, n);
    plain_softmax(x, plain, 1, n);
    const struct difference d = difference_between(y, right, n);
    const struct allowance a = allowance_for(plain, right, n, FORWARD);
    cr_assert(within(d, a), "%s, N = %zu, column %zu: got %.9g, expected %.9g (allowed %.2g)", what,
              n, d.worst, d.got, d.expected, a.max_abs);
    free(y);
    free(plain);
    free(right);
}

static void check_random(size_t n, float spread, float shift)
{
    float *x = allocate(n, sizeof *x, "x");
    random_normals(x, n, 3, (uint32_t)n);
    for (size_t j = 0; j < n; j++)
        x[j] = x[j] * spread + shift;
    check(spread > 5 ? "large scores" : "ordinary scores", x, n);
    free(x);
}

TEST(online_softmax, gives_the_worked_numbers)
{
    const float right[4] = { 0.0321f, 0.0871f, 0.2369f, 0.6439f };
    float y[4];
    online_softmax((const float[]){ 1, 2, 3, 4 }, y, 4);
    for (size_t j = 0; j < 4; j++)
        cr_assert(fabsf(y[j] - right[j]) <= 0.00005f, "column %zu: got %g, expected %g", j,
                  (double)y[j], (double)right[j]);
}

TEST(online_softmax, of_one_score_is_exactly_one)
{
    const float scores[] = { 0.0f, -200.0f, 1e30f, -1e30f };
    for (size_t k = 0; k < 4; k++) {
        float y = NAN;
        online_softmax(&scores[k], &y, 1);
        cr_assert(y == 1.0f, "softmax(%g) = %.9g, expected 1", (double)scores[k], (double)y);
    }
}

TEST(online_softmax, agrees_with_the_reference_at_every_size)
{
    const size_t sizes[] = { 1,   2,   7,   63,   64,   65,   100,  127,   129,
                             200, 511, 513, 1000, 1023, 1025, 2047, 100000 };
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        check_random(sizes[k], 1.0f, 0.0f);
        check_random(sizes[k], 30.0f, 0.0f);
    }
}

TEST(online_softmax, does_not_overflow_or_underflow_far_from_zero)
{
    check_random(129, 1.0f, 300.0f);
    check_random(129, 1.0f, -300.0f);
    check("one large score", (const float[]){ 1, 2, 300 }, 3);
    check("the ends of float32", (const float[]){ -3e38f, 0, 3e38f }, 3);
}

TEST(online_softmax, is_right_whether_the_maximum_moves_at_every_step_or_never)
{
    enum { N = 500 };
    float rising[N], falling[N];
    for (size_t j = 0; j < N; j++) {
        rising[j] = 0.5f * (float)j;
        falling[N - 1 - j] = rising[j];
    }
    check("rising scores", rising, N);
    check("falling scores", falling, N);
}

TEST(online_softmax, gives_a_masked_score_the_weight_zero_exactly)
{
    const float x[] = { -INFINITY, 1, -INFINITY, 2, -INFINITY };
    float y[5];
    check("masked scores, the first one too", x, 5);
    online_softmax(x, y, 5);
    cr_assert(y[0] == 0.0f && y[2] == 0.0f && y[4] == 0.0f, "got %g %g %g, expected 0 0 0",
              (double)y[0], (double)y[2], (double)y[4]);
}

TEST(online_softmax, of_nothing_but_minus_infinity_is_nan)
{
    check("only -inf", (const float[]){ -INFINITY, -INFINITY, -INFINITY }, 3);
}

TEST(online_softmax, of_a_row_with_infinity_or_nan_in_it_is_nan)
{
    check("+inf first", (const float[]){ INFINITY, 1, 2 }, 3);
    check("+inf last", (const float[]){ 1, 2, INFINITY }, 3);
    check("NaN first", (const float[]){ NAN, 1, 2 }, 3);
    check("NaN last", (const float[]){ 1, 2, NAN }, 3);
    check("NaN and -inf", (const float[]){ -INFINITY, NAN, -INFINITY }, 3);
}

TEST(online_softmax, can_write_over_its_input)
{
    float x[] = { 1, 3, 2, -1 }, y[4];
    online_softmax(x, y, 4);
    online_softmax(x, x, 4);
    for (size_t j = 0; j < 4; j++)
        cr_assert(x[j] == y[j], "column %zu: %g in place, %g apart", j, (double)x[j], (double)y[j]);
}

TEST(online_softmax, writes_its_row_and_nothing_beside_it)
{
    float y[5] = { 77, 0, 0, 0, 77 };
    online_softmax((const float[]){ 1, 2, 3 }, y + 1, 3);
    cr_assert(y[0] == 77.0f && y[4] == 77.0f, "the neighbours became %g and %g", (double)y[0],
              (double)y[4]);
}
