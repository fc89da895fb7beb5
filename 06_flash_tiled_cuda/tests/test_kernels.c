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

enum { MOST_D = 64 };  // of kernel_shape

/* All sizes, and random problems with the options of `options`. */
static void assert_right(enum kernel_name name, unsigned options)
{
    forward *const kernel = on_device(name);
    if (kernels[name].tensor) {
        struct attention p = attention_of(1, 1, 1, 1, 1, 64);
        p.dtype = name % 2 ? DTYPE_BF16 : DTYPE_F16;  // the random problems below are of both
        assert_forward_at_lengths(kernel, p);
    } else
        assert_forward_at_every_size(kernel);
    cr_assert(forward_forms.done >= all_or_few(23, 18), "only %zu sizes: this tests nothing",
              forward_forms.done);
    for (uint64_t seed = 1; seed <= all_or_few(40, 12); seed++) {
        const unsigned some = seed <= 9 ? options & 1U << seed % 9 : random_options(seed, options);
        struct test_problem t = kernel_problem(name, seed, 200, some);
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

TEST(mma, agrees_with_the_reference)
{
    assert_right(MMA, WITH_ORDER);
}

TEST(swizzle, agrees_with_the_reference)
{
    assert_right(SWIZZLE, WITH_ORDER);
}

TEST(async, agrees_with_the_reference)
{
    assert_right(ASYNC, WITH_ORDER);
    assert_right(ASYNC3, WITH_ORDER);
}

TEST(exp2, agrees_with_the_reference)
{
    assert_right(EXP2, WITH_ORDER);
}

TEST(skip, agrees_with_the_reference)
{
    assert_right(SKIP, WITH_ORDER);
}

TEST(rescale, agrees_with_the_reference)
{
    assert_right(RESCALE, WITH_ORDER);
}

TEST(budget, agrees_with_the_reference)
{
    assert_right(BUDGET, WITH_ORDER);
}

TEST(wgmma, agrees_with_the_reference)
{
    assert_right(WGMMA, WITH_ORDER);
}

TEST(roles, agrees_with_the_reference)
{
    assert_right(ROLES, WITH_ORDER);
}

TEST(overlap, agrees_with_the_reference)
{
    assert_right(OVERLAP, WITH_ORDER);
}

TEST(pingpong, agrees_with_the_reference)
{
    assert_right(PINGPONG, WITH_ORDER);
}

TEST(persistent, agrees_with_the_reference)
{
    assert_right(PERSISTENT, WITH_ORDER);
}

TEST(polynomial, agrees_with_the_reference)
{
    assert_right(POLYNOMIAL, WITH_ORDER);
}

/* Ragged ends, causal order, grouped heads: and no query or key is left out or taken twice. */
static size_t assert_right_in_every_tile(enum kernel_name name, unsigned options)
{
    size_t tiles = 0;
    for (const struct tile *tile = kernels[name].tiles; tile->d; tile++, tiles++)
        for (uint64_t seed = 1; seed <= all_or_few(6, 2); seed++) {
            struct test_problem some = kernel_problem(MMA, seed, 300, 0);
            struct attention p = some.p;
            problem_free(&some);
            if (!device_holds(test_device(), tile))
                continue;
            p.d = tile->d;
            struct test_problem t = problem_of(p, seed == 1 ? 0 : options, seed);
            assert_forward(on_device_in_tiles(name, tile->Br, tile->Bc), &t);
            problem_free(&t);
        }
    on_device_in_tiles(name, 0, 0);
    return tiles;
}

TEST(budget, agrees_with_the_reference_in_every_tile)
{
    cr_assert(assert_right_in_every_tile(BUDGET, WITH_ORDER) == 8, "not all tiles");
    cr_assert(assert_right_in_every_tile(COMPLETE, WITH_EVERYTHING) == 7, "not all tiles");
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
            struct test_problem t = kernel_problem(COMPLETE, one + two, 150, one | two);
            assert_forward(on_device(COMPLETE), &t);
            problem_free(&t);
        }
}

TEST(complete, agrees_with_the_reference_in_16_bits)
{
    struct attention p = attention_of(1, 1, 1, 1, 1, 32);
    p.dtype = DTYPE_BF16;
    assert_forward_at_lengths(on_device(COMPLETE), p);
    for (uint64_t seed = 1; seed <= all_or_few(60, 18); seed++) {
        const unsigned one = WITH_EVERYTHING & 1U << seed % 9;
        struct test_problem t =
            narrow_problem(seed, 150, seed <= 18 ? one : random_options(seed, WITH_EVERYTHING));
        assert_forward(on_device(COMPLETE), &t);
        problem_free(&t);
    }
}

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
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name))
        for (uint64_t seed = 1; seed <= all_or_few(20, 5); seed++) {
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
        p.causal = true;  // bottom-right: the first 150 queries stand before the first key
        struct test_problem t = problem_of(p, 0, 1);
        float O[170 * MOST_D], lse[170];
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 150 * p.d; n++)
            cr_assert(O[n] == 0.0f && lse[n / p.d] == -INFINITY, "%s: query %zu: %g, lse %g",
                      kernels[name].name, n / p.d, (double)O[n], (double)lse[n / p.d]);
        problem_free(&t);
    }
}

TEST(kernels, give_scores_of_minus_infinity_no_weight)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name)) {
        struct test_problem t = problem_of(kernel_shape(name, 1, 1, 1, 20, 150), 0, 1);
        const size_t d = t.p.d;
        for (size_t j = 0; j < 150; j++)
            t.K[j * d] = j < 130 ? -INFINITY : 0.0f;  // whole tiles of them, and first
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
            cr_assert(fabsf(O[n] - right[n]) <= (kernels[name].tensor ? 4e-3f : 1e-6f),
                      "%s: O[%zu] is %g, not %g", kernels[name].name, n, (double)O[n],
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
                      kernels[name].name, n / d, (double)O[n], (double)lse[n / d]);
        problem_free(&t);
    }
}

/* A NaN in a query or in a key that is seen is in the result, and in no row that has nothing to do with it. */
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
                      "%s: query %zu: %g, lse %g", kernels[name].name, n / d, (double)O[n],
                      (double)lse[n / d]);
        t.K[69 * d] = NAN;
        run_on(test_device(), name, &t, O, lse);
        for (size_t n = 0; n < 50 * d; n++)
            cr_assert(isnan(O[n]) && isnan(lse[n / d]), "%s: query %zu: %g, lse %g",
                      kernels[name].name, n / d, (double)O[n], (double)lse[n / d]);
        problem_free(&t);
    }
}

/*
 * A NaN in V of a key that some queries of a tile see and others do not: in the two kernels that go key by
 * key it is in the results of the former alone. The others multiply whole tiles, and 0 times NaN is NaN.
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
            cr_assert(!isnan(O[n]) == (n / d < 30), "%s: query %zu: %g", kernels[name].name, n / d,
                      (double)O[n]);
        problem_free(&t);
    }
}

/* Every key outweighs all before it, or all after it: the maximum moves again and again, or never. */
TEST(kernels, follow_scores_that_rise_and_fall_by_hundreds)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name = kernel_after(name))
        for (int sign = -1; sign <= 1; sign += 2) {
            struct attention p = kernel_shape(name, 1, 1, 1, 40, 300);
            p.scale = 1.0f;
            if (kernels[name].tensor)
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
                          kernels[name].name, n, (double)O[n], (double)V[n % p.d]);
            problem_free(&t);
        }
}

/* With V the unit matrix O is P, and one sees which weights are 0. */
static void assert_drops(enum dtype type)
{
    enum { N = 128, ROWS = 2 * 2 * 150 };
    struct attention p = attention_of(2, 2, 2, 150, N, N);
    p.dtype = type;
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

TEST(dropout, drops_the_weights_that_the_cpu_drops)
{
    assert_drops(DTYPE_F32);
    assert_drops(DTYPE_BF16);
}

/* Weights of up to 256, and few that stay: times 1/(1 - P) they would be 74 000, and float16 ends at 65 504. */
TEST(dropout, has_room_in_float16_for_what_the_others_leave)
{
    enum { Nq = 40, Nk = 600, FIRST = 64 };  // the others have scores 7.8 powers of 2 higher
    struct attention p = attention_of(1, 1, 1, Nq, Nk, 64);
    p.dtype = DTYPE_F16;
    p.scale = 1.0f;
    attention_set_dropout(&p, 0.997, 3);
    struct test_problem t = problem_of(p, 0, 7);
    for (size_t n = 0; n < Nq * p.d; n++)
        t.Q[n] = n % p.d == 0 ? 1.0f : 0.0f;
    for (size_t n = 0; n < Nk * p.d; n++)
        t.K[n] = n % p.d == 0 && n / p.d >= FIRST ? 5.40625f : 0.0f;
    assert_forward(on_device(COMPLETE), &t);
    problem_free(&t);
}

TEST(kernels, give_the_same_bits_again)
{
    for (size_t which = NAIVE; which < KERNELS + 1; which++) {
        const enum kernel_name name = which < KERNELS ? (enum kernel_name)which : COMPLETE;
        struct attention p = kernel_shape(name, 2, 2, 1, 200, 130);
        if (which == KERNELS) {  // in 16 bits this is another kernel
            p.d = 64;
            p.dtype = DTYPE_BF16;
            attention_set_dropout(&p, 0.2, 1);
        }
        struct test_problem t = problem_of(p, 0, 5);
        const size_t n = attention_query_elements(&t.p);
        float *O = allocate(n, sizeof *O, "O"), *again = allocate(n, sizeof *O, "O");
        run_on(test_device(), name, &t, O, NULL);
        const int runs = test_device() == &device_cpu ? 3 : 500;
        for (int k = 0; k < runs; k++) {
            run_on(test_device(), name, &t, again, NULL);
            cr_assert(memcmp(O, again, n * sizeof *O) == 0, "%s: run %d differs",
                      kernels[name].name, k + 2);
        }
        free(O);
        free(again);
        problem_free(&t);
    }
}

/* Those on tensor cores; complete is one too, if its inputs have 16 bits. */
static bool knows_16_bits(enum kernel_name name)
{
    return kernels[name].tensor || name == COMPLETE;
}

/* Scores so far apart, and sums so large, that 16 bits would not hold them. */
TEST(tensor_cores, hold_inputs_that_overflow_easily)
{
    size_t done = 0;
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (uint64_t seed = 0; knows_16_bits(name) && seed < all_or_few(8, 2); seed++, done++) {
            const unsigned options = seed % 2 ? WITH_CAUSAL : 0;
            struct test_problem t = name == COMPLETE ? narrow_problem(seed, 200, options)
                                                     : kernel_problem(name, seed, 200, options);
            for (size_t n = 0; n < attention_query_elements(&t.p); n++)
                t.Q[n] = dtype_round(t.p.dtype, 5.0f * t.Q[n]);
            for (size_t n = 0; n < attention_key_elements(&t.p); n++) {
                t.K[n] = dtype_round(t.p.dtype, 3.0f * t.K[n]);
                t.V[n] = dtype_round(t.p.dtype, 3.0f * t.V[n]);
            }
            assert_forward(on_device(name), &t);
            problem_free(&t);
        }
    cr_assert(done > 8, "no kernel on tensor cores");
}

/* float16 ends at 65504; S, of which no 16 bits are made, may be larger. */
TEST(tensor_cores, reach_the_end_of_float16)
{
    for (enum kernel_name name = NAIVE; name < KERNELS; name++) {
        if (!knows_16_bits(name))
            continue;
        struct attention p = kernel_shape(MMA, 1, 1, 1, 70, 150);
        p.dtype = DTYPE_F16;
        p.scale = 1e-6f;
        struct test_problem t = problem_of(p, 0, 1);
        for (size_t n = 0; n < 70 * p.d; n++)
            t.Q[n] = dtype_round(p.dtype, 700.0f * t.Q[n]);
        for (size_t n = 0; n < 150 * p.d; n++) {
            t.K[n] = dtype_round(p.dtype, 700.0f * t.K[n]);
            t.V[n] = t.V[n] > 0.0f ? 65504.0f : 60000.0f;
        }
        assert_forward(on_device(name), &t);
        problem_free(&t);
    }
}

TEST(tensor_cores, take_scales_of_every_sign)
{
    // at 1e6 k m is rounded by as much as 2, which must cancel
    static const float scales[] = { 0.0f, -0.125f, -3.0f, 1e-20f, 4.0f, 1e6f };
    for (enum kernel_name name = NAIVE; name < KERNELS; name++)
        for (size_t k = 0; knows_16_bits(name) && k < sizeof scales / sizeof scales[0]; k++) {
            struct attention p = kernel_shape(MMA, 1, 1, 1, 100, 90);
            p.scale = scales[k];
            p.causal = true;  // the first ten queries see nothing
            struct test_problem t = problem_of(p, 0, k);
            assert_forward(on_device(name), &t);
            problem_free(&t);
        }
}
