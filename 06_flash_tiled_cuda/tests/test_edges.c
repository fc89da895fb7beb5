/*
 * Masked keys, scores of minus infinity, NaN, large scores: what must not reach a result, and what
 * must.
 */
#include "06_flash_tiled_cuda/tests/run.h"
#include "common/tests/test.h"

#include <math.h>
#include <string.h>

enum { MOST_D = 64 };  // of kernel_shape

TEST(complete, does_not_read_keys_that_no_query_sees_in_16_bits)
{
    static const unsigned options[] = { WITH_KEY_MASK | WITH_GROUPED_HEADS,
                                        WITH_BLOCK_MASK | WITH_WINDOW, WITH_EVERYTHING };
    size_t hidden = 0;
    for (uint64_t seed = 1; seed <= all_or_few(30, 9); seed++) {
        struct test_problem t = narrow_problem(seed, 100, options[seed % 3]);
        hidden += problem_poison_unseen_keys(&t);
        assert_forward(on_device(COMPLETE), &t);
        problem_free(&t);
    }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

TEST(complete, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(on_device(COMPLETE), WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_forward_ignores_unseen_keys(on_device(COMPLETE), WITH_EVERYTHING);
}

TEST(steps, do_not_read_keys_that_no_query_sees)
{
    size_t hidden = 0;
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name))
        for (uint64_t seed = 1; seed <= all_or_few(10, 5); seed++) {
            struct test_problem t =
                kernel_problem(name, seed, 150, WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT);
            hidden += problem_poison_unseen_keys(&t);
            assert_forward(on_device(name), &t);
            problem_free(&t);
        }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

TEST(kernels, give_queries_that_see_no_key_zero_and_minus_infinity)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name)) {
        struct attention p = kernel_shape(name, 1, 1, 1, 170, 20);
        p.causal = true;  // bottom-right: the first 150 queries have no key
        struct test_problem t = problem_of(p, 0, 1);
        float O[170 * MOST_D], lse[170];
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 150 * p.d; n++)
            cr_assert(O[n] == 0.0f && lse[n / p.d] == -INFINITY, "%s: query %zu: %g, lse %g",
                      table.steps[name].name, n / p.d, (double)O[n], (double)lse[n / p.d]);
        problem_free(&t);
    }
}

TEST(kernels, give_scores_of_minus_infinity_no_weight)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name)) {
        struct test_problem t = problem_of(kernel_shape(name, 1, 1, 1, 20, 150), 0, 1);
        const size_t d = t.p.d;
        for (size_t j = 0; j < 150; j++)
            t.K[j * d] = j < 130 ? -INFINITY : 0.0f;  // whole tiles of them, at the start
        for (size_t i = 0; i < 20; i++)
            t.Q[i * d] = 1.0f;
        struct test_problem last = problem_of(kernel_shape(name, 1, 1, 1, 20, 20), 0, 1);
        memcpy(last.Q, t.Q, 20 * d * sizeof *t.Q);
        memcpy(last.K, t.K + 130 * d, 20 * d * sizeof *t.K);
        memcpy(last.V, t.V + 130 * d, 20 * d * sizeof *t.V);
        float O[20 * MOST_D], right[20 * MOST_D];
        run_on(test_device(), name, &t, O, NULL);
        run_on(test_device(), name, &last, right, NULL);
        for (size_t n = 0; n < 20 * d; n++)
            cr_assert(fabsf(O[n] - right[n]) <= (is_tensor(name) ? 4e-3f : 1e-6f),
                      "%s: O[%zu] is %g, not %g", table.steps[name].name, n, (double)O[n],
                      (double)right[n]);
        problem_free(&last);
        problem_free(&t);
    }
}

TEST(kernels, give_a_row_of_minus_infinity_zero)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name)) {
        struct test_problem t = problem_of(kernel_shape(name, 1, 1, 1, 20, 150), 0, 1);
        const size_t d = t.p.d;
        float O[20 * MOST_D], lse[20];
        for (size_t j = 0; j < 150; j++)
            t.K[j * d] = -INFINITY;
        for (size_t i = 0; i < 20; i++)
            t.Q[i * d] = 1.0f;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 20 * d; n++)
            cr_assert(O[n] == 0.0f && lse[n / d] == -INFINITY, "%s: query %zu: %g, lse %g",
                      table.steps[name].name, n / d, (double)O[n], (double)lse[n / d]);
        problem_free(&t);
    }
}

/* A NaN in a query, or in a key it attends to, reaches that query's row of O and no other. */
TEST(kernels, let_nan_be_seen)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name)) {
        struct test_problem t = problem_of(kernel_shape(name, 1, 1, 1, 50, 70), 0, 1);
        const size_t d = t.p.d;
        float O[50 * MOST_D], lse[50];
        t.Q[7 * d + 2] = NAN;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 50 * d; n++)
            cr_assert(!isnan(O[n]) == (n / d != 7) && !isnan(lse[n / d]) == (n / d != 7),
                      "%s: query %zu: %g, lse %g", table.steps[name].name, n / d, (double)O[n],
                      (double)lse[n / d]);
        t.K[69 * d] = NAN;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 50 * d; n++)
            cr_assert(isnan(O[n]) && isnan(lse[n / d]), "%s: query %zu: %g, lse %g",
                      table.steps[name].name, n / d, (double)O[n], (double)lse[n / d]);
        problem_free(&t);
    }
}

/*
 * A NaN in V of a key that only some queries of a tile attend to: the other kernels multiply full
 * tiles, and 0 times NaN is NaN.
 */
TEST(kernels, that_go_key_by_key_keep_nan_from_the_queries_that_do_not_see_it)
{
    for (enum kernel_name name = NAIVE; name <= FA1; name++) {
        struct attention p = kernel_shape(name, 1, 1, 1, 50, 50);
        p.causal = true;
        struct test_problem t = problem_of(p, 0, 1);
        const size_t d = p.d;
        float O[50 * MOST_D];
        for (size_t c = 0; c < d; c++)
            t.V[30 * d + c] = NAN;
        run_on(test_device(), name, &t, O, NULL);
        for (size_t n = 0; n < 50 * d; n++)
            cr_assert(!isnan(O[n]) == (n / d < 30), "%s: query %zu: %g", table.steps[name].name,
                      n / d, (double)O[n]);
        problem_free(&t);
    }
}

/* The maximum moves with every key, or never. */
TEST(kernels, follow_scores_that_rise_and_fall_by_hundreds)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name))
        for (int sign = -1; sign <= 1; sign += 2) {
            struct attention p = kernel_shape(name, 1, 1, 1, 40, 300);
            p.scale = 1.0f;
            if (is_tensor(name))
                p.dtype = DTYPE_F16;  // in bfloat16 some of these would be equal
            struct test_problem t = problem_of(p, 0, 1);
            memset(t.K, 0, 300 * p.d * sizeof *t.K);
            for (size_t i = 0; i < 40; i++)
                t.Q[i * p.d] = 1.0f;
            for (size_t j = 0; j < 300; j++)
                t.K[j * p.d] = (float)sign * 9.0f * (float)j;
            float O[40 * MOST_D];
            run_on(test_device(), name, &t, O, NULL);
            const float *V = t.V + (sign > 0 ? 299 : 0) * p.d;
            for (size_t n = 0; n < 40 * p.d; n++)
                cr_assert(fabsf(O[n] - V[n % p.d]) < 2e-3f, "%s: O[%zu] is %g, not %g",
                          table.steps[name].name, n, (double)O[n], (double)V[n % p.d]);
            problem_free(&t);
        }
}
