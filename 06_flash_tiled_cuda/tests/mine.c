/*
 * Tests of the kernels, to begin with: write more. Each should fail for some way of being wrong.
 */
#include "06_flash_tiled_cuda/program/stages.h"
#include "common/tests/problems.h"
#include "common/tests/test.h"

#include <math.h>

/* Checks a kernel on the CPU; frees the problem. */
static void assert_right(enum kernel_name name, struct test_problem t)
{
    const struct attention_input input = { .p = t.p, .Q = t.Q, .K = t.K, .V = t.V };
    struct reference_results right = reference_results_of(&t);
    struct result got = kernel_run(&kernels[name], &device_cpu, &input);
    for (size_t e = 0; e < t.p.B * t.p.H * t.p.Nq * t.p.d; e++)
        cr_assert(fabs((double)got.O[e] - right.O[e]) <= 1e-4,
                  "%s, element %zu: got %g, expected %g", kernels[name].name, e, (double)got.O[e],
                  right.O[e]);
    result_free(&got);
    reference_results_free(&right);
    problem_free(&t);
}

TEST(mine, a_problem_of_one_tile_agrees_with_the_reference)
{
    assert_right(NAIVE, problem_of(attention_of(1, 1, 1, 3, 5, 16), 0, 1));
    assert_right(FA1, problem_of(attention_of(1, 1, 1, 3, 5, 16), 0, 1));
    assert_right(FA2, problem_of(attention_of(1, 1, 1, 3, 5, 16), 0, 1));
}
