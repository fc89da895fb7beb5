/*
 * Tests of the kernels, to begin with: write more. Each should fail for some way of being wrong.
 */
#include "06_flash_tiled_cuda/program.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>

/* Checks a kernel on the CPU; frees the problem. */
static void assert_right(const char *name, struct test_problem t)
{
    const struct step *const kernel = step_named(&table, name);
    const struct options usual = { .br = 0 };
    struct reference_results right = reference_results_of(&t);
    struct tensors x = step_run(kernel, &t.p, step_size(kernel, &usual, &t.p),
                                (struct tensors){ .Q = t.Q, .K = t.K, .V = t.V });
    for (size_t e = 0; e < t.p.B * t.p.H * t.p.Nq * t.p.d; e++)
        cr_assert(fabs((double)x.O[e] - right.O[e]) <= 1e-4, "%s, element %zu: got %g, expected %g",
                  name, e, (double)x.O[e], right.O[e]);
    outputs_free(&x);
    reference_results_free(&right);
    problem_free(&t);
}

TEST(mine, a_problem_of_one_tile_agrees_with_the_reference)
{
    assert_right("naive", problem_of(attention_of(1, 1, 1, 3, 5, 16), 0, 1));
    assert_right("fa1", problem_of(attention_of(1, 1, 1, 3, 5, 16), 0, 1));
    assert_right("fa2", problem_of(attention_of(1, 1, 1, 3, 5, 16), 0, 1));
}
