#include "01_standard_softmax/standard_softmax.h"
#include "common/measure/watch.h"
#include "common/tests/softmax_rows.h"
#include "common/tests/test.h"

#include <math.h>

TEST(standard_softmax, gives_the_worked_numbers)
{
    assert_softmax_worked_numbers(standard_softmax);
}

TEST(standard_softmax, agrees_with_the_reference_at_every_size)
{
    assert_softmax_at_every_size(standard_softmax, 1.0f);
}

TEST(standard_softmax, of_a_row_does_not_depend_on_the_row_before)
{
    float first[3], again[3];
    standard_softmax((const float[]){ 1, 2, 3 }, first, 3);
    standard_softmax((const float[]){ 5, 6, 7 }, again, 3);
    standard_softmax((const float[]){ 1, 2, 3 }, again, 3);
    for (size_t j = 0; j < 3; j++)
        cr_assert(first[j] == again[j], "column %zu: %g at first, then %g", j, (double)first[j],
                  (double)again[j]);
}

TEST(standard_softmax, overflows_above_88_72_and_not_below)
{
    float y[2];
    standard_softmax((const float[]){ 88.72f, 0 }, y, 2);
    cr_assert(y[0] == 1.0f && y[1] < 1e-38f, "at 88.72: got %g %g", (double)y[0], (double)y[1]);
    standard_softmax((const float[]){ 88.73f, 0 }, y, 2);
    cr_assert(isnan(y[0]) && y[1] == 0.0f, "at 88.73: got %g %g, expected NaN 0", (double)y[0],
              (double)y[1]);
}

TEST(standard_softmax, is_all_zeros_where_only_the_sum_overflows)
{
    float y[2];
    standard_softmax((const float[]){ 88.5f, 88.5f }, y, 2);
    cr_assert(y[0] == 0.0f && y[1] == 0.0f, "got %g %g, expected 0 0", (double)y[0], (double)y[1]);
}

TEST(standard_softmax, underflows_below_minus_103_97_and_not_above)
{
    float y[2];
    standard_softmax((const float[]){ -103.9f, -103.9f }, y, 2);
    cr_assert(y[0] == 0.5f && y[1] == 0.5f, "at -103.9: got %g %g, expected 0.5 0.5", (double)y[0],
              (double)y[1]);
    standard_softmax((const float[]){ -104.0f, -104.0f }, y, 2);
    cr_assert(isnan(y[0]) && isnan(y[1]), "at -104: got %g %g, expected NaN NaN", (double)y[0],
              (double)y[1]);
}

TEST(standard_softmax, gives_a_masked_score_the_weight_zero_exactly)
{
    const float x[] = { -INFINITY, 1, -INFINITY, 2 };
    float y[4];
    assert_softmax(standard_softmax, "masked scores", x, 4);
    standard_softmax(x, y, 4);
    cr_assert(y[0] == 0.0f && y[2] == 0.0f, "got %g and %g, expected 0 and 0", (double)y[0],
              (double)y[2]);
}

TEST(standard_softmax, can_write_over_its_input)
{
    assert_softmax_in_place(standard_softmax);
}

TEST(standard_softmax, writes_its_row_and_nothing_beside_it)
{
    assert_softmax_stays_in_its_row(standard_softmax);
}

DECLARE_WATCHED(standard_softmax);

TEST(accesses, are_2_loads_and_a_store_for_each_score)
{
    assert_softmax_accesses(WATCHED(standard_softmax), 2);
}

TEST(standard_softmax_lanes, agrees_with_the_reference_at_every_size)
{
    assert_softmax_at_every_size(standard_softmax_lanes, 1.0f);
}
