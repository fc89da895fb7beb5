#include "03_online_softmax/online_softmax.h"
#include "common/measure/watch.h"
#include "common/tests/softmax_rows.h"
#include "common/tests/test.h"

#include <float.h>
#include <math.h>

TEST(online_softmax, gives_the_worked_numbers)
{
    assert_softmax_worked_numbers(online_softmax);
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
    assert_softmax_at_every_size(online_softmax, 1.0f);
    assert_softmax_at_every_size(online_softmax, 30.0f);
}

TEST(online_softmax, does_not_overflow_or_underflow_far_from_zero)
{
    assert_softmax_random(online_softmax, 129, 1.0f, 300.0f);
    assert_softmax_random(online_softmax, 129, 1.0f, -300.0f);
    assert_softmax(online_softmax, "one large score", (const float[]){ 1, 2, 300 }, 3);
    assert_softmax(online_softmax, "the ends of float32", (const float[]){ -3e38f, 0, 3e38f }, 3);
    assert_softmax(online_softmax, "only the smallest", (const float[]){ -3e38f, -FLT_MAX, -3e38f },
                   3);
}

TEST(online_softmax, is_right_whether_the_maximum_moves_at_every_step_or_never)
{
    enum { N = 500 };
    float rising[N], falling[N];
    for (size_t j = 0; j < N; j++) {
        rising[j] = 0.5f * (float)j;
        falling[N - 1 - j] = rising[j];
    }
    assert_softmax(online_softmax, "rising scores", rising, N);
    assert_softmax(online_softmax, "falling scores", falling, N);
}

TEST(online_softmax, gives_a_masked_score_the_weight_zero_exactly)
{
    const float x[] = { -INFINITY, 1, -INFINITY, 2, -INFINITY };
    float y[5];
    assert_softmax(online_softmax, "masked scores, the first one too", x, 5);
    online_softmax(x, y, 5);
    cr_assert(y[0] == 0.0f && y[2] == 0.0f && y[4] == 0.0f, "got %g %g %g, expected 0 0 0",
              (double)y[0], (double)y[2], (double)y[4]);
}

TEST(online_softmax, of_nothing_but_minus_infinity_is_nan)
{
    const float x[] = { -INFINITY, -INFINITY, -INFINITY };
    assert_softmax(online_softmax, "only -inf", x, 3);
    assert_softmax(online_softmax, "one -inf", x, 1);
}

TEST(online_softmax, of_a_row_with_infinity_or_nan_in_it_is_nan)
{
    assert_softmax(online_softmax, "+inf first", (const float[]){ INFINITY, 1, 2 }, 3);
    assert_softmax(online_softmax, "+inf last", (const float[]){ 1, 2, INFINITY }, 3);
    assert_softmax(online_softmax, "NaN first", (const float[]){ NAN, 1, 2 }, 3);
    assert_softmax(online_softmax, "NaN last", (const float[]){ 1, 2, NAN }, 3);
    assert_softmax(online_softmax, "NaN and -inf", (const float[]){ -INFINITY, NAN, -INFINITY }, 3);
}

TEST(online_softmax, can_write_over_its_input)
{
    assert_softmax_in_place(online_softmax);
}

TEST(online_softmax, writes_its_row_and_nothing_beside_it)
{
    assert_softmax_stays_in_its_row(online_softmax);
}

DECLARE_WATCHED(online_softmax);

TEST(accesses, are_2_loads_and_a_store_for_each_score)
{
    assert_softmax_accesses(WATCHED(online_softmax), 2);
}

TEST(online_softmax_lanes, agrees_with_the_reference_at_every_size)
{
    assert_softmax_at_every_size(online_softmax_lanes, 1.0f);
}
