#include "01_standard_softmax/standard_softmax.h"
#include "02_safe_softmax/safe_softmax.h"
#include "common/measure/watch.h"
#include "common/problem/random.h"
#include "common/tests/softmax_rows.h"
#include "common/tests/test.h"

#include <float.h>
#include <math.h>

TEST(safe_softmax, gives_the_worked_numbers)
{
    assert_softmax_worked_numbers(safe_softmax);
}

TEST(safe_softmax, agrees_with_the_reference_at_every_size)
{
    assert_softmax_at_every_size(safe_softmax, 1.0f);
    assert_softmax_at_every_size(safe_softmax, 30.0f);
}

TEST(safe_softmax, agrees_with_chapter_01_where_that_has_numbers)
{
    enum { N = 200 };
    float x[N], safe[N], standard[N];
    for (uint32_t seed = 1; seed <= 50; seed++) {
        random_normals(x, N, seed, 0);
        safe_softmax(x, safe, N);
        standard_softmax(x, standard, N);
        for (size_t j = 0; j < N; j++)
            cr_assert(fabsf(safe[j] - standard[j]) <= 1e-6f, "seed %u, column %zu: %g, 01 has %g",
                      seed, j, (double)safe[j], (double)standard[j]);
    }
}

TEST(safe_softmax, does_not_care_about_a_shift)
{
    assert_softmax_random(safe_softmax, 129, 1.0f, 300.0f);
    assert_softmax_random(safe_softmax, 129, 1.0f, -300.0f);
    assert_softmax(safe_softmax, "one large score", (const float[]){ 1, 2, 300 }, 3);
    assert_softmax(safe_softmax, "the ends of float32", (const float[]){ -3e38f, 0, 3e38f }, 3);
    assert_softmax(safe_softmax, "only the smallest", (const float[]){ -3e38f, -FLT_MAX, -3e38f },
                   3);
}

TEST(safe_softmax, of_one_score_is_exactly_one)
{
    const float scores[] = { 0.0f, -200.0f, 1e30f, -1e30f };
    for (size_t k = 0; k < 4; k++) {
        float y = NAN;
        safe_softmax(&scores[k], &y, 1);
        cr_assert(y == 1.0f, "softmax(%g) = %.9g, expected 1", (double)scores[k], (double)y);
    }
}

TEST(safe_softmax, of_a_row_does_not_depend_on_the_row_before)
{
    float y[2];
    safe_softmax((const float[]){ 500, 400 }, y, 2);
    assert_softmax(safe_softmax, "small scores after large ones", (const float[]){ 1, 2, 3 }, 3);
}

TEST(safe_softmax, gives_a_masked_score_the_weight_zero_exactly)
{
    const float x[] = { -INFINITY, 1, -INFINITY, 2, -INFINITY };
    float y[5];
    assert_softmax(safe_softmax, "masked scores", x, 5);
    safe_softmax(x, y, 5);
    cr_assert(y[0] == 0.0f && y[2] == 0.0f && y[4] == 0.0f, "got %g %g %g, expected 0 0 0",
              (double)y[0], (double)y[2], (double)y[4]);
}

TEST(safe_softmax, is_nan_where_ieee_says_so)
{
    assert_softmax(safe_softmax, "only -inf", (const float[]){ -INFINITY, -INFINITY }, 2);
    assert_softmax(safe_softmax, "one -inf", (const float[]){ -INFINITY }, 1);
    assert_softmax(safe_softmax, "+inf first", (const float[]){ INFINITY, 1, 2 }, 3);
    assert_softmax(safe_softmax, "+inf last", (const float[]){ 1, 2, INFINITY }, 3);
    assert_softmax(safe_softmax, "NaN first", (const float[]){ NAN, 1, 2 }, 3);
    assert_softmax(safe_softmax, "NaN last", (const float[]){ 1, 2, NAN }, 3);
}

TEST(safe_softmax, can_write_over_its_input)
{
    assert_softmax_in_place(safe_softmax);
}

TEST(safe_softmax, writes_its_row_and_nothing_beside_it)
{
    assert_softmax_stays_in_its_row(safe_softmax);
}

DECLARE_WATCHED(safe_softmax);

TEST(accesses, are_3_loads_and_a_store_for_each_score)
{
    assert_softmax_accesses(WATCHED(safe_softmax), 3);
}

TEST(safe_softmax_lanes, agrees_with_the_reference_at_every_size)
{
    assert_softmax_at_every_size(safe_softmax_lanes, 1.0f);
}
