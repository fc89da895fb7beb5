/*
 * Tests of the steps, to begin with: write more. Each should fail for some way of being wrong.
 */
#include "05_flash_tiled_cpu/steps/steps.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>

/* A step with these tiles against the reference, O alone. */
static void assert_right(attention_step *step, struct tile_size size, struct test_problem t)
{
    enum { MOST = 100 };
    struct reference_results right = reference_results_of(&t);
    float O[MOST];
    const size_t count = t.p.B * t.p.H * t.p.Nq * t.p.d;
    cr_assert(count <= MOST, "%zu elements are more than there is room for", count);
    step(&t.p, size, problem_tensors(&t, O, NULL));
    for (size_t e = 0; e < count; e++)
        cr_assert(fabs((double)O[e] - right.O[e]) <= 1e-5, "element %zu: got %g, expected %g", e,
                  (double)O[e], right.O[e]);
    reference_results_free(&right);
    problem_free(&t);
}

TEST(mine, a_problem_of_one_tile_agrees_with_the_reference)
{
    const struct tile_size size = { .Br = 8, .Bc = 8 };
    assert_right(fa1, size, problem_of(attention_of(1, 1, 1, 3, 5, 2), 0, 1));
    assert_right(fa2, size, problem_of(attention_of(1, 1, 1, 3, 5, 2), 0, 1));
}
