/*
 * The kernels against the reference, at the sizes and with the options that they know.
 */
#include "../stages.h"
#include "memory.h"
#include "run.h"
#include "test.h"
#include "tolerance.h"

#include <math.h>
#include <string.h>

/* All sizes, and random problems with the options of `options`. */
static void assert_right(enum kernel_name name, unsigned options)
{
    forward *const kernel = on_device(name);
    assert_forward_at_every_size(kernel);
    cr_assert(forward_forms.done >= 26, "only %zu sizes: this tests nothing", forward_forms.done);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const unsigned some = seed <= 9 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = kernel_problem(seed, 200, some);
        assert_forward(kernel, &t);
        problem_free(&t);
    }
}

TEST(naive, agrees_with_the_reference)
{
    assert_right(NAIVE, WITH_ORDER);
}

TEST(fa1, agrees_with_the_reference)
{
    assert_right(FA1, WITH_ORDER);
}

TEST(fa2, agrees_with_the_reference)
{
    assert_right(FA2, WITH_ORDER);
}

TEST(complete, agrees_with_the_reference)
{
    assert_right(COMPLETE, WITH_EVERYTHING);
}

TEST(complete, agrees_with_the_reference_under_every_option_and_at_any_d)
{
    assert_forward_with_options(on_device(COMPLETE), WITH_EVERYTHING);
}

TEST(complete, agrees_with_the_reference_under_every_two_options)
{
    for (unsigned one = 1; one < WITH_EVERYTHING; one *= 2)
        for (unsigned two = 2 * one; two < WITH_EVERYTHING; two *= 2) {
            struct test_problem t = kernel_problem(one + two, 150, one | two);
            assert_forward(on_device(COMPLETE), &t);
            problem_free(&t);
        }
}

TEST(complete, gives_the_output_that_came_with_the_real_input)
{
    assert_forward_of_the_real_input(on_device(COMPLETE));
}

TEST(complete, does_not_read_keys_that_no_query_sees)
{
    assert_forward_ignores_unseen_keys(on_device(COMPLETE), WITH_KEY_MASK | WITH_GROUPED_HEADS);
    assert_forward_ignores_unseen_keys(on_device(COMPLETE), WITH_EVERYTHING);
}

TEST(rungs, do_not_read_keys_that_no_query_sees)
{
    size_t hidden = 0;
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct test_problem t =
                kernel_problem(seed, 150, WITH_UNEQUAL_LENGTHS | WITH_CAUSAL | WITH_TOP_LEFT);
            hidden += problem_poison_unseen_keys(&t);
            assert_forward(on_device(name), &t);
            problem_free(&t);
        }
    cr_assert(hidden > 100, "only %zu keys were hidden: this tests nothing", hidden);
}

TEST(kernels, give_queries_that_see_no_key_zero_and_minus_infinity)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct attention p = attention_of(1, 1, 1, 170, 20, 16);
        p.causal = true;  // bottom-right: the first 150 queries stand before the first key
        struct test_problem t = problem_of(p, 0, 1);
        float O[170 * 16], lse[170];
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 150 * 16; n++)
            cr_assert(O[n] == 0.0f && lse[n / 16] == -INFINITY, "%s: query %zu: %g, lse %g",
                      kernels[name].name, n / 16, (double)O[n], (double)lse[n / 16]);
        problem_free(&t);
    }
}

TEST(kernels, give_scores_of_minus_infinity_no_weight)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct test_problem t = problem_of(attention_of(1, 1, 1, 20, 150, 16), 0, 1);
        for (size_t j = 0; j < 150; j++)
            t.K[j * 16] = j < 130 ? -INFINITY : 0.0f;  // whole tiles of them, and first
        for (size_t i = 0; i < 20; i++)
            t.Q[i * 16] = 1.0f;
        struct test_problem last = problem_of(attention_of(1, 1, 1, 20, 20, 16), 0, 1);
        memcpy(last.Q, t.Q, 20 * 16 * sizeof *t.Q);
        memcpy(last.K, t.K + 130 * 16, 20 * 16 * sizeof *t.K);
        memcpy(last.V, t.V + 130 * 16, 20 * 16 * sizeof *t.V);
        float O[20 * 16], right[20 * 16];
        run_on(test_device(), name, &t, O, NULL);
        run_on(test_device(), name, &last, right, NULL);
        for (size_t n = 0; n < 20 * 16; n++)
            cr_assert(fabsf(O[n] - right[n]) <= 1e-6f, "%s: O[%zu] is %g, not %g",
                      kernels[name].name, n, (double)O[n], (double)right[n]);
        problem_free(&last);
        problem_free(&t);
    }
}

TEST(kernels, give_a_row_of_minus_infinity_zero)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct test_problem t = problem_of(attention_of(1, 1, 1, 20, 150, 16), 0, 1);
        float O[20 * 16], lse[20];
        for (size_t j = 0; j < 150; j++)
            t.K[j * 16] = -INFINITY;
        for (size_t i = 0; i < 20; i++)
            t.Q[i * 16] = 1.0f;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 20 * 16; n++)
            cr_assert(O[n] == 0.0f && lse[n / 16] == -INFINITY, "%s: query %zu: %g, lse %g",
                      kernels[name].name, n / 16, (double)O[n], (double)lse[n / 16]);
        problem_free(&t);
    }
}

/* A NaN in a query or in a key that is seen is in the result, and in no row that has nothing to do with it. */
TEST(kernels, let_nan_be_seen)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct test_problem t = problem_of(attention_of(1, 1, 1, 50, 70, 16), 0, 1);
        float O[50 * 16], lse[50];
        t.Q[7 * 16 + 2] = NAN;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 50 * 16; n++)
            cr_assert(!isnan(O[n]) == (n / 16 != 7) && !isnan(lse[n / 16]) == (n / 16 != 7),
                      "%s: query %zu: %g, lse %g", kernels[name].name, n / 16, (double)O[n],
                      (double)lse[n / 16]);
        t.K[69 * 16] = NAN;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 50 * 16; n++)
            cr_assert(isnan(O[n]) && isnan(lse[n / 16]), "%s: query %zu: %g, lse %g",
                      kernels[name].name, n / 16, (double)O[n], (double)lse[n / 16]);
        problem_free(&t);
    }
}

/* Every key outweighs all before it, or all after it: the maximum moves again and again, or never. */
TEST(kernels, follow_scores_that_rise_and_fall_by_hundreds)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct attention p = attention_of(1, 1, 1, 40, 300, 16);
            p.scale = 1.0f;
            struct test_problem t = problem_of(p, 0, 1);
            memset(t.K, 0, 300 * 16 * sizeof *t.K);
            for (size_t i = 0; i < 40; i++)
                t.Q[i * 16] = 1.0f;
            for (size_t j = 0; j < 300; j++)
                t.K[j * 16] = (float)sign * 9.0f * (float)j;
            float O[40 * 16];
            run_on(test_device(), name, &t, O, NULL);
            const float *V = t.V + (sign > 0 ? 299 : 0) * 16;
            for (size_t n = 0; n < 40 * 16; n++)
                cr_assert(fabsf(O[n] - V[n % 16]) < 2e-3f, "%s: O[%zu] is %g, not %g",
                          kernels[name].name, n, (double)O[n], (double)V[n % 16]);
            problem_free(&t);
        }
}

/* With V the unit matrix O is P, and one sees which weights are 0. */
TEST(dropout, drops_the_weights_that_the_cpu_drops)
{
    enum { N = 128, ROWS = 2 * 2 * 150 };
    struct attention p = attention_of(2, 2, 2, 150, N, N);
    attention_set_dropout(&p, 0.4, 11);
    struct test_problem t = problem_of(p, 0, 3);
    for (size_t n = 0; n < attention_key_elements(&p); n++)
        t.V[n] = n / N % N == n % N ? 1.0f : 0.0f;
    float *O = allocate((size_t)ROWS * N, sizeof *O, "O");
    run_on(test_device(), COMPLETE, &t, O, NULL);
    for (size_t n = 0; n < (size_t)ROWS * N; n++) {
        const size_t row = n / N, b = row / 300, h = row / 150 % 2;
        cr_assert((O[n] != 0.0f) == dropout_keeps(&p, b, h, row % 150, n % N),
                  "b %zu, h %zu, i %zu, j %zu: the weight is %g", b, h, row % 150, n % N,
                  (double)O[n]);
    }
    free(O);
    problem_free(&t);
}

TEST(kernels, give_the_same_bits_again)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        struct test_problem t = problem_of(attention_of(2, 2, 1, 200, 130, 32), 0, 5);
        const size_t n = attention_query_elements(&t.p);
        float *O = allocate(n, sizeof *O, "O"), *again = allocate(n, sizeof *O, "O");
        run_on(test_device(), name, &t, O, NULL);
        for (int k = 0; k < 3; k++) {
            run_on(test_device(), name, &t, again, NULL);
            cr_assert(memcmp(O, again, n * sizeof *O) == 0, "%s: run %d differs",
                      kernels[name].name, k + 2);
        }
        free(O);
        free(again);
        problem_free(&t);
    }
}
