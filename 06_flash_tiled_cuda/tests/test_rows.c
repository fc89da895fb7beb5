/*
 * Rows are independent, though a warp computes several.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/tests/test.h"

/*
 * Every third query is 64 times as large. A neighbour that took its maximum would have no weights
 * left.
 */
static void assert_rows_apart(enum kernel_name name)
{
    if (!kernel_is_in_question(table.steps[name].name))
        return;
    struct test_problem t = problem_of(kernel_shape(name, 1, 2, 1, 150, 140), 0, 3);
    for (size_t e = 0; e < attention_query_elements(&t.p); e++)
        if (e / t.p.d % 3 == 0)
            t.Q[e] *= 64.0f;
    assert_forward(on_device(name), &t);
    problem_free(&t);
}

TEST(fa2, gives_each_row_its_own_maximum)
{
    assert_rows_apart(FA2);
}

TEST(turing, gives_each_row_its_own_maximum)
{
    assert_rows_apart(TURING);
}

TEST(mma, gives_each_row_its_own_maximum)
{
    assert_rows_apart(MMA);
}

TEST(every_kernel, gives_each_row_its_own_maximum)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name))
        assert_rows_apart(name);
}

/*
 * All keys are equal, so after the first tile no maximum moves, nor may sums: a factor of 1, if
 * rounded, would be applied hundreds of times.
 */
static void assert_sums_stay(enum kernel_name name)
{
    struct attention p = kernel_shape(name, 1, 1, 1, 16, 2000);
    if (!kernel_is_in_question(table.steps[name].name))
        return;
    p.d = 128;
    struct test_problem t = problem_of(p, 0, 5);
    for (size_t e = 0; e < attention_query_elements(&t.p); e++)
        t.Q[e] *= 64.0f;
    for (size_t e = t.p.d; e < attention_key_elements(&t.p); e++)
        t.K[e] = t.K[e - t.p.d];
    assert_forward(on_device(name), &t);
    problem_free(&t);
}

TEST(exp2, keeps_its_sums_while_no_maximum_moves)
{
    assert_sums_stay(EXP2);
}

TEST(every_kernel, keeps_its_sums_while_no_maximum_moves)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name))
        assert_sums_stay(name);
}
