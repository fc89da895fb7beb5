/*
 * Your tests of attention in one pass. Add more: each should catch some mistake.
 */
#include "04_flash_no_tiling/flash_no_tiling.h"
#include "04_flash_no_tiling/flash_row.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>

TEST(mine, two_equal_keys_give_the_average_of_their_values)
{
    const float q = 1, K[2] = { 3, 3 }, V[2] = { 10, 20 };
    float o;
    flash_row(&q, K, V, &o, 2, 1, 1.0f);
    cr_assert(o == 15.0f, "got %g, expected 15", (double)o);
}

/* problems.h makes problems with any options from a seed, and their reference results. */
TEST(mine, a_small_problem_agrees_with_the_reference)
{
    struct test_problem t = problem_of(attention_of(1, 1, 1, 3, 5, 2), 0, 1);
    struct reference_results right = reference_results_of(&t);
    float O[6];
    flash_no_tiling(&t.p, t.Q, t.K, t.V, O, NULL);
    for (size_t e = 0; e < 6; e++)
        cr_assert(fabs((double)O[e] - right.O[e]) <= 1e-5, "element %zu: got %g, expected %g", e,
                  (double)O[e], right.O[e]);
    reference_results_free(&right);
    problem_free(&t);
}
